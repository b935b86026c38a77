using Snapper.Storage.Log.Records;
using Snapper.Storage.Recovery;

namespace Snapper.Storage.Tests.Support;

/// <summary>For recoveries whose outcomes nobody looks at.</summary>
internal sealed class NoSink : IRecoverySink
{
    public void Outcome(OutcomeRecord outcome, long sequence)
    {
    }
}
