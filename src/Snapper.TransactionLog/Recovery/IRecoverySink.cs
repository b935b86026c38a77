using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.Recovery;

/// <summary>Hears what a log held.</summary>
public interface IRecoverySink
{
    /// <summary>An outcome, in the order of the log. Its payload points into memory of the log: copy what is kept.</summary>
    void Outcome(OutcomeRecord outcome, long sequence);
}
