using Snapper.Storage.Log;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>Tells answers that certainly mean "not done" from those after which nothing is known.</summary>
internal static class RedisRefusal
{
    // Each of these is given before a script runs, or at its first write, where our scripts have done nothing yet.
    private static readonly string[] Certain =
        ["OOM ", "MISCONF ", "READONLY ", "LOADING ", "MASTERDOWN ", "BUSY ", "NOREPLICAS ", "NOAUTH ", "WRONGPASS ", "NOPERM ", "CLUSTERDOWN ", "MOVED ", "ASK ", "CROSSSLOT "];

    // A server says these that is not the primary any more, or knows that another one may be.
    private static readonly string[] NoPrimary = ["READONLY ", "NOREPLICAS ", "MASTERDOWN "];

    public static bool Is(RedisServerException error) => Is(error.Message);

    public static bool Is(string message) => IsOneOf(Certain, message);

    /// <summary>The address may lead to another server by now.</summary>
    public static bool IsNoPrimary(string message) => IsOneOf(NoPrimary, message);

    private static bool IsOneOf(string[] words, string message)
    {
        foreach (var word in words)
        {
            if (message.StartsWith(word, StringComparison.Ordinal) || message.Contains(": -" + word, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Runs a fenced script whose answer is a word and a detail.</summary>
    /// <exception cref="CorruptLogException">A key has another type: this program did not write it.</exception>
    public static async Task<AppendResult> Run(
        RedisConnections connections, RedisScript script, RedisKey[] keys, RedisValue[] values,
        CancellationToken cancellation)
    {
        string answer;
        try
        {
            answer = (string)(await connections.Run(script, keys, values, cancellation).ConfigureAwait(false))!;
        }
        catch (RedisServerException error) when (Is(error))
        {
            return new AppendResult(AppendStatus.Refused, error.Message);
        }
        catch (RedisServerException error) when (error.Message.Contains("WRONGTYPE", StringComparison.Ordinal))
        {
            throw new CorruptLogException(
                $"One of the keys {string.Join(", ", keys)} is not what this program wrote: {error.Message}");
        }

        var result = OfAnswer(answer);
        if (result.Status == AppendStatus.Refused)
        {
            connections.NoteRefusal(result.Detail);
        }

        return result;
    }

    /// <summary>What an error, given instead of a script's answer, says of a fenced call.</summary>
    /// <exception cref="InvalidOperationException">It leaves open what was done.</exception>
    public static AppendResult OfError(string message) =>
        Is(message) ? new AppendResult(AppendStatus.Refused, message) : throw new InvalidOperationException($"Redis answered a script with the error '{message}'.");

    /// <summary>What a fenced script's answer says, a word and a detail.</summary>
    /// <exception cref="InvalidOperationException">It is none of the words.</exception>
    /// <exception cref="CorruptLogException">The script met something that this program did not write, and changed nothing.</exception>
    public static AppendResult OfAnswer(string answer)
    {
        var space = answer.IndexOf(' ');
        var detail = space < 0 ? "" : answer[(space + 1)..];
        return answer.AsSpan(0, space < 0 ? answer.Length : space) switch
        {
            "OK" => new AppendResult(AppendStatus.Appended, detail),
            "DUP" => new AppendResult(AppendStatus.AlreadyThere),
            "FENCED" => new AppendResult(AppendStatus.Fenced, detail),
            "GUARD" => new AppendResult(AppendStatus.RescuerFenced, detail),
            "GAP" => new AppendResult(AppendStatus.Gap, detail),
            "BEHIND" => new AppendResult(AppendStatus.Behind, detail),
            "LOST" => new AppendResult(AppendStatus.Gap, $"the log lost acknowledged records: {detail}"),
            "DAMAGED" => throw new CorruptLogException($"Redis holds what this program did not write: {detail}."),
            "REFUSED" when Is(detail) => new AppendResult(AppendStatus.Refused, detail),
            _ => throw new InvalidOperationException($"Redis answered a script with '{answer}'."),
        };
    }
}
