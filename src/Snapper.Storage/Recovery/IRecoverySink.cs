using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Recovery;

/// <summary>Hears what a log held.</summary>
public interface IRecoverySink
{
    /// <summary>An outcome, in the order of the log. Its payload points into memory of the log: copy what is kept.</summary>
    void Outcome(OutcomeRecord outcome, long sequence);
}
