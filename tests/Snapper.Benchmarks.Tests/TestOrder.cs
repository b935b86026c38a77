using Xunit;

// Some tests measure time: others beside them would take their share of the cores.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
