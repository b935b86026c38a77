namespace Snapper.Storage.Log;

/// <summary>What an append's numbers mean for a log (L6); the Redis script says the same.</summary>
internal static class AppendPosition
{
    /// <summary><see cref="AppendStatus.Appended"/>: to be written now.</summary>
    public static AppendResult Of(long nextSequence, long firstSequence, int count)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(firstSequence, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        if (firstSequence == nextSequence)
        {
            return new AppendResult(AppendStatus.Appended);
        }

        if (firstSequence + count <= nextSequence)
        {
            return new AppendResult(AppendStatus.AlreadyThere);
        }

        return new AppendResult(AppendStatus.Gap, $"records {firstSequence} to {firstSequence + count - 1} do not follow the log, whose next record is {nextSequence}");
    }

    /// <summary>The higher of each; trimming never lowers them (R1).</summary>
    public static LogWatermarks Max(this LogWatermarks one, LogWatermarks other) =>
        new(Math.Max(one.Transaction, other.Transaction), Math.Max(one.ActCounter, other.ActCounter));
}
