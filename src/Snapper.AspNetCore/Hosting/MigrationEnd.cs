using Snapper.Cluster.Control;
using Snapper.Contracts;

namespace Snapper.AspNetCore.Hosting;

/// <summary>Waits for a migration that this worker has asked for.</summary>
internal static class MigrationEnd
{
    /// <summary>Returns when nothing of it is under way, or nobody knows it any more.</summary>
    /// <param name="control">The workers as one system.</param>
    /// <param name="migration">As it was made.</param>
    /// <param name="every">How often to look.</param>
    /// <param name="end">Gives up.</param>
    public static async Task Wait(IClusterControl control, MigrationStatus migration, TimeSpan every, CancellationToken end)
    {
        for (var now = migration; now is { State: "planned", Parts.Count: > 0 }; now = await control.Migration(migration.Id, end))
        {
            await Task.Delay(every, end);
        }
    }
}
