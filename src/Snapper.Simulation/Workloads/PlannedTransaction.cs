using Snapper.Runtime.Door;

namespace Snapper.Simulation.Workloads;

/// <summary>A transaction that a client is going to send.</summary>
internal sealed record PlannedTransaction(int Client, int Number, TransactionRequest Request, object Plan);

/// <summary>What a client knows of its transaction at the end.</summary>
internal enum Verdict
{
    Committed,
    Aborted,
    Unknown,
}

/// <summary>What is sent, and how the whole is judged.</summary>
internal interface IWorkload
{
    /// <summary>The next transaction of a client.</summary>
    PlannedTransaction Next(int client, int number);

    /// <summary>A client has concluded one.</summary>
    void Observe(PlannedTransaction transaction, Verdict verdict, TransactionEnvelope? envelope, long invoked, long completed);

    /// <summary>Transactions that look at everything at the end.</summary>
    IEnumerable<PlannedTransaction> Last();

    /// <summary>True when a look's answer is what a state in the log says.</summary>
    bool Shows(TransactionEnvelope look, string state);

    /// <summary>What is wrong, in words.</summary>
    IEnumerable<string> Judge();
}
