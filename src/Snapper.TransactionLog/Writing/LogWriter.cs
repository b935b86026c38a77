using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.Writing;

// Signatures other parts are written against; bodies belong here.
//   LogWriter(ITransactionLog log, LogOpening opening, ILogObserver observer, LogWriterOptions options, TimeProvider time)
//   long Enqueue(LogRecord record)   gives a ticket; encodes at once on the calling thread; tickets count up over records and barriers
//   long EnqueueBarrier()            gives a ticket that is flushed by the next group sent after now, or alone by CheckEpoch (L5)
//   bool IsFree                      nothing queued and nothing in flight
//   long QueuedBytes                 for back-pressure
//   long DurableSequence, long LastSequence
//   Task Drain(CancellationToken)    completes when everything enqueued before the call is flushed
//   ValueTask DisposeAsync()
