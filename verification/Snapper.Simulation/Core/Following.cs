namespace Snapper.Simulation.Core;

/// <summary>What follows a task in the simulator: at once, in its one thread.</summary>
internal static class Following
{
    private const TaskContinuationOptions AtOnce = TaskContinuationOptions.ExecuteSynchronously;

    /// <summary>Does something when a task has ended, however it did.</summary>
    public static void Then(this Task task, Action<Task> next) => task.ContinueWith(next, CancellationToken.None, AtOnce, TaskScheduler.Default);

    /// <summary>Does something when a task has ended, however it did.</summary>
    public static void Then<T>(this Task<T> task, Action<Task<T>> next) => task.ContinueWith(next, CancellationToken.None, AtOnce, TaskScheduler.Default);

    /// <summary>Does something with an answer.</summary>
    public static void Hear<T>(this Task<T> answer, Action<T> heard) => answer.Then(done => heard(done.Result));
}
