using Snapper.Protocol.Messages;
using Snapper.TransactionLog.Records;

namespace Snapper.Runtime.Hosting;

/// <summary>Hears everything that the commit order does, in order; for whoever verifies it by the rules. Called on the commit machine's executor.</summary>
internal interface IWorkerTrace
{
    /// <summary>A message has come; before it is handled.</summary>
    void Received(in Message message);

    /// <summary>A batch or an ACT's outcome was queued; <paramref name="record"/> null: as a barrier, without a record.</summary>
    void Queued(object item, LogRecord? record, long sequence, long ticket);

    /// <summary>The requests of a batch or an ACT are answered.</summary>
    void Answered(object item);
}
