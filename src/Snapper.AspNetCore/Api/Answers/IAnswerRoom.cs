using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>What the answers of one request may hold until they are sent. Thread-safe.</summary>
internal interface IAnswerRoom
{
    /// <summary>Why nothing more was to be had; null: it was.</summary>
    Rejection? Refused { get; }

    /// <summary>Takes room for an answer that its request can do without.</summary>
    bool TryHold(long bytes);

    /// <summary>Gives back what an answer took that has left.</summary>
    void Give(long bytes);
}
