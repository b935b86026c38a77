using Snapper.Contracts;

namespace Snapper.Dashboard.Store;

/// <summary>What is known of one worker; a value.</summary>
/// <param name="Url">Its base address.</param>
/// <param name="Name">As it calls itself; its address until it has answered.</param>
/// <param name="Status">Its newest status; null: it has never answered.</param>
/// <param name="Ready">Its newest checks.</param>
/// <param name="AnsweredAt">When it answered last.</param>
/// <param name="AskedAt">When it was asked last.</param>
/// <param name="Problem">Why it does not answer; null: it does.</param>
/// <param name="Samples">Oldest first.</param>
public sealed record WorkerState(
    Uri Url, string Name, WorkerStatus? Status, ReadyView? Ready, DateTimeOffset? AnsweredAt, DateTimeOffset? AskedAt, string? Problem, IReadOnlyList<Sample> Samples)
{
    /// <summary>It answers, and does not let the dashboard look: see <see cref="Workers.Reply{T}.Refused"/>.</summary>
    public bool Refused { get; init; }

    /// <summary>It answers.</summary>
    public bool IsUp => Problem is null && Status is not null;
}

/// <summary>Something that changed: restarts, elections, workers that went or came back, migrations.</summary>
public sealed record Change(DateTimeOffset At, string Kind, string Worker, string Text, string? Link);
