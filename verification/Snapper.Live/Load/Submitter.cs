using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json;
using Snapper.Live.Harness;
using Snapper.Judging.Histories;

namespace Snapper.Live.Load;

/// <summary>What finally became of a request.</summary>
internal readonly record struct Decision(ObservedOutcome Outcome, Answer Answer)
{
    /// <summary>Where it ended, for reports: committed, unknown, or the reason of the abort.</summary>
    public string Label => Outcome switch
    {
        ObservedOutcome.Committed => "committed",
        ObservedOutcome.Aborted => Answer.AbortReason ?? "aborted without a reason",
        _ => "unknown",
    };

    public bool AbortReasonIs(string reason) => Outcome == ObservedOutcome.Aborted && Answer.AbortReason == reason;
}

/// <summary>
/// Sends requests that carry an id until each is decided, as a careful client does: what is said not to be executed is sent again, what is in doubt is
/// asked for, what got no answer is asked for or sent again with its id, and an abort that may succeed later is sent again. (Only then is an abort
/// final: an earlier copy of the request may still be on its way, and may run after a retryable abort.)
/// </summary>
/// <param name="client">Where to.</param>
/// <param name="patience">How long one request may take until it is left as unknown.</param>
/// <param name="impatience">How long single attempts may take; null: as long as an HTTP client has by default.</param>
internal sealed class Submitter(SnapperClient client, TimeSpan patience, Impatience? impatience = null)
{
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(250);

    private readonly ConcurrentDictionary<string, long> _open = new();
    private int _repeats;
    private int _lookups;
    private int _failures;
    private int _inDoubt;

    /// <summary>How often something was sent again.</summary>
    public int Repeats => _repeats;

    /// <summary>How often an outcome was asked for by id.</summary>
    public int Lookups => _lookups;

    /// <summary>Answers that said "not executed", and answers that did not come.</summary>
    public int Failures => _failures;

    /// <summary>Answers that said "in doubt".</summary>
    public int InDoubt => _inDoubt;

    /// <summary>When the oldest request that is not decided was sent first, in ticks of <see cref="Stopwatch"/>; null: all are decided.</summary>
    public long? OldestOpen => _open.IsEmpty ? null : _open.Values.DefaultIfEmpty(long.MaxValue).Min();

    /// <summary>Answers to one id that contradict each other.</summary>
    public ConcurrentQueue<string> Contradictions { get; } = new();

    /// <summary>Aborts answered, also those that were sent again, by mode and reason.</summary>
    public ConcurrentDictionary<(string Mode, string Reason), int> Aborts { get; } = new();

    public async Task<Decision> Run(Transaction transaction, Door door, int choice)
    {
        _open.TryAdd(transaction.RequestId!, Stopwatch.GetTimestamp());
        return await Resolve(transaction, await Send(transaction, door), door, choice);
    }

    /// <summary>Goes on from a first answer.</summary>
    /// <param name="transaction">Carries an id.</param>
    /// <param name="answer">What the first sending brought.</param>
    /// <param name="door">The road for repeats.</param>
    /// <param name="choice">Random, for what may be done in either way.</param>
    public async Task<Decision> Resolve(Transaction transaction, Answer answer, Door door, int choice)
    {
        _open.TryAdd(transaction.RequestId!, Stopwatch.GetTimestamp());
        try
        {
            return await Decide(transaction, answer, door, choice);
        }
        finally
        {
            _open.TryRemove(transaction.RequestId!, out _);
        }
    }

    private async Task<Decision> Decide(Transaction transaction, Answer answer, Door door, int choice)
    {
        var started = Stopwatch.GetTimestamp();
        for (var attempt = 0; Stopwatch.GetElapsedTime(started) < patience; attempt++)
        {
            Count(answer.Verdict);
            switch (answer.Verdict)
            {
                case Verdict.Committed:
                    return new Decision(ObservedOutcome.Committed, answer);
                case Verdict.Aborted:
                    Aborts.AddOrUpdate((transaction.Mode ?? "act", answer.AbortReason ?? "none"), 1, (_, count) => count + 1);
                    if (!answer.Retryable)
                    {
                        return new Decision(ObservedOutcome.Aborted, answer);
                    }

                    answer = await Again(transaction, door, attempt, answer);
                    break;
                case Verdict.NotExecuted:
                    answer = await Again(transaction, door, attempt, answer);
                    break;
                case Verdict.Unclear when (choice + attempt) % 2 == 0:
                    answer = await Again(transaction, door, attempt, answer);
                    break;
                case Verdict.InDoubt or Verdict.Running or Verdict.Unclear:
                    answer = await Look(transaction, door, attempt);
                    break;
                default:
                    throw new InvalidOperationException($"The load sent a wrong request: {transaction.ToJson().ToJsonString()} was answered by {answer}");
            }
        }

        return new Decision(ObservedOutcome.Unknown, answer);
    }

    private async Task<Answer> Again(Transaction transaction, Door door, int attempt, Answer last)
    {
        Interlocked.Increment(ref _repeats);
        await Task.Delay(Pause(attempt, last.RetryAfter));
        return await Send(transaction, door);
    }

    private void Count(Verdict verdict)
    {
        if (verdict is Verdict.NotExecuted or Verdict.Unclear)
        {
            Interlocked.Increment(ref _failures);
        }
        else if (verdict == Verdict.InDoubt)
        {
            Interlocked.Increment(ref _inDoubt);
        }
    }

    /// <summary>Once; or, by a client that does not wait, twice at the same time, and then both answers must agree.</summary>
    private async Task<Answer> Send(Transaction transaction, Door door)
    {
        var first = client.Submit(transaction, door, patience: impatience?.Next());
        if (impatience?.SendsTwice() is not true)
        {
            return await first;
        }

        Interlocked.Increment(ref _repeats);
        var second = client.Submit(transaction, door == Door.Direct ? Door.Service : Door.Direct, patience: impatience.Next());
        var (one, other) = (await first, await second);
        if ((one.Verdict, other.Verdict) == (Verdict.Committed, Verdict.Committed) && !JsonElement.DeepEquals(one.Result, other.Result))
        {
            Contradictions.Enqueue($"{transaction.RequestId} was answered by {one} and by {other}");
        }

        return one.Verdict is Verdict.Unclear or Verdict.NotExecuted ? other : one;
    }

    private async Task<Answer> Look(Transaction transaction, Door door, int attempt)
    {
        Interlocked.Increment(ref _lookups);
        await Task.Delay(Pause(attempt, null));
        var answer = await client.Find(transaction.RequestId!, impatience?.Next());

        // Unknown is no decision while a copy of the request may be under way; sending it again decides.
        return answer.Status == 404 ? await Again(transaction, door, attempt, answer) : answer;
    }

    private static TimeSpan Pause(int attempt, TimeSpan? asked)
    {
        var pause = TimeSpan.FromMilliseconds(10 * (1 + Math.Min(attempt, 20)));
        pause = asked > pause ? asked.Value : pause;
        return pause < LongestPause ? pause : LongestPause;
    }
}
