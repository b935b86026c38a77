using Snapper.TransactionLog.Records;
using Snapper.TransactionLog.Recovery;

namespace Snapper.TransactionLog.Tests.Support;

/// <summary>For recoveries whose outcomes nobody looks at.</summary>
internal sealed class NoSink : IRecoverySink
{
    public void Outcome(OutcomeRecord outcome, long sequence)
    {
    }
}
