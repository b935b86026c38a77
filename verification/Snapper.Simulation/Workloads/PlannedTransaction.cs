using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.Workloads;

/// <summary>A transaction that a client is going to send.</summary>
internal sealed record PlannedTransaction(int Client, int Number, TransactionRequest Request, object Plan)
{
    /// <summary>Mostly ample, sometimes too short to be met.</summary>
    public static TimeSpan DrawTimeout(SeededChance chance) =>
        TimeSpan.FromMilliseconds(chance.Percent(15) ? chance.Between(1, 60) : chance.Between(500, 3000));
}

/// <summary>What is sent, and how the whole is judged.</summary>
internal interface IWorkload
{
    /// <summary>The next transaction of a client.</summary>
    PlannedTransaction Next(int client, int number);

    /// <summary>A client has concluded one.</summary>
    void Observe(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked, long completed);

    /// <summary>Transactions that look at everything at the end.</summary>
    IEnumerable<PlannedTransaction> Last();

    /// <summary>True when a look's answer is what a state in the log says.</summary>
    bool Shows(TransactionEnvelope look, string state);

    /// <summary>What is wrong, in words.</summary>
    IEnumerable<string> Judge();
}
