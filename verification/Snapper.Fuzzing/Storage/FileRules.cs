using Snapper.Fuzzing.Engine;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.States;

namespace Snapper.Fuzzing.Storage;

/// <summary>What may come of broken files; stated anew, from the bytes.</summary>
internal static class FileRules
{
    /// <summary>A refused log's data files are as they were; once it was open, torn bytes at an end may have been cut off, and empty segments removed.</summary>
    public static void Untouched(Dictionary<string, byte[]> broken, Dictionary<string, byte[]> now, bool wasOpen)
    {
        foreach (var (name, bytes) in broken)
        {
            if (!name.EndsWith(".seg", StringComparison.Ordinal) && !name.EndsWith(".dat", StringComparison.Ordinal))
            {
                continue;
            }

            var left = now.GetValueOrDefault(name);
            var same = left is not null && left.AsSpan().SequenceEqual(bytes);
            var cut = wasOpen && (left is null ? FileBreaker.FramesOf(bytes).Count == 0 : bytes.AsSpan().StartsWith(left) || FileBreaker.FramesOf(bytes).Count == 0);
            if (!same && !cut)
            {
                throw new FuzzFailureException($"The log was refused, but {name} was changed from {bytes.Length} bytes to {left?.Length.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? "none"}.");
            }
        }
    }

    /// <summary>The log that was opened is a beginning of what was written, and leaves nothing out that is whole.</summary>
    public static void LegalLog(SampleLog sample, Dictionary<string, byte[]> original, Dictionary<string, byte[]> broken, FilesTarget.Found found)
    {
        var groups = sample.Firsts.IndexOf(found.Opening!.NextSequence);
        if (groups < 0)
        {
            throw new FuzzFailureException($"The log goes on with record {found.Opening.NextSequence}, where no group ended.");
        }

        var sure = true;
        foreach (var (name, start, length, first) in Groups(original))
        {
            var now = broken.GetValueOrDefault(name) ?? [];
            sure &= now.Length >= start + length && now.AsSpan(0, start + length).SequenceEqual(original[name].AsSpan(0, start + length));
            if (first >= found.Opening.NextSequence && sure)
            {
                throw new FuzzFailureException($"The group of record {first} is whole, as is everything before it, and the log ends before record {found.Opening.NextSequence}.");
            }

            if (first >= found.Opening.NextSequence && broken.Any(file => file.Key.EndsWith(".seg", StringComparison.Ordinal) && file.Value.AsSpan().IndexOf(original[name].AsSpan(start, length)) >= 0))
            {
                throw new FuzzFailureException($"The group of record {first} is whole in the files, and the log silently ends before record {found.Opening.NextSequence}.");
            }
        }

        // The states are those of the log's beginning, or of what was checkpointed when that is more; unless the states' own files are broken.
        if (original.Where(file => file.Key.StartsWith("state", StringComparison.Ordinal)).All(file => broken.TryGetValue(file.Key, out var now) && now.AsSpan().SequenceEqual(file.Value)))
        {
            var expected = sample.After(Math.Max(groups, sample.Checkpointed));
            foreach (var (actor, state) in found.StatesAfter)
            {
                if (Text(state) != Text(expected.GetValueOrDefault(actor)))
                {
                    throw new FuzzFailureException($"{actor} came back in version {state?.Version ?? 0} where {expected.GetValueOrDefault(actor)?.Version ?? 0} was written.");
                }
            }
        }
    }

    /// <summary>While the log is as it was, recovery ends with the last states, whatever became of the checkpoints: it is in one place or the other, or it was refused.</summary>
    public static void LegalStates(SampleLog sample, Dictionary<string, byte[]> original, Dictionary<string, byte[]> broken, FilesTarget.Found found)
    {
        if (!original.Where(file => !IsCheckpoint(file.Key)).All(file => broken.TryGetValue(file.Key, out var now) && now.AsSpan().SequenceEqual(file.Value)))
        {
            return;
        }

        foreach (var (actor, state) in sample.After(sample.Groups))
        {
            if (Text(found.StatesAfter[actor]) != Text(state))
            {
                throw new FuzzFailureException($"{actor} came back in version {found.StatesAfter[actor]?.Version ?? 0} where {state.Version} was written; the log was trimmed below record {sample.TrimmedBelow}.");
            }
        }
    }

    /// <summary>What a crash leaves, a last segment that is cut off anywhere, is opened.</summary>
    public static void TornTailOpens(Recipe recipe, SampleLog sample, Dictionary<string, byte[]> original, CorruptLogException damage)
    {
        var segments = original.Keys.Where(name => name.StartsWith("log-", StringComparison.Ordinal)).ToArray();
        if (recipe.Steps is [["cut", var file, _]] && file == $"log:{segments.Length - 1}" && sample.TrimmedBelow <= FirstOf(segments[^1]))
        {
            throw new FuzzFailureException($"A torn tail was refused: {damage.Message}");
        }
    }

    private static IEnumerable<(string Name, int Start, int Length, long First)> Groups(Dictionary<string, byte[]> files)
    {
        foreach (var name in files.Keys.Where(name => name.StartsWith("log-", StringComparison.Ordinal)).Order(StringComparer.Ordinal))
        {
            foreach (var (start, length, header) in FileBreaker.FramesOf(files[name]))
            {
                yield return (name, start, length, header.Number);
            }
        }
    }

    private static long FirstOf(string segment) => long.Parse(segment.AsSpan(4, 19), System.Globalization.CultureInfo.InvariantCulture);

    private static bool IsCheckpoint(string name) => name.StartsWith("state", StringComparison.Ordinal) || name.StartsWith("outcomes", StringComparison.Ordinal);

    private static string Text(StoredState? state) => state is null ? "none" : $"{state.Version} {RecordText.Of(state.Fields)}";
}
