using Snapper.Fuzzing.Cluster;
using Snapper.Fuzzing.CommandLine;
using Snapper.Fuzzing.Http;
using Snapper.Fuzzing.Storage;
using Snapper.Fuzzing.Text;

namespace Snapper.Fuzzing.Engine;

/// <summary>All targets.</summary>
internal static class FuzzTargets
{
    private static readonly (string Name, Func<FuzzTarget> Make)[] All =
    [
        ("records", static () => new RecordsTarget()),
        ("mailbox", static () => new MailboxTarget()),
        ("http", static () => new HttpTarget(actorDoor: false)),
        ("actor-door", static () => new HttpTarget(actorDoor: true)),
        ("command-line", static () => new CommandLineTarget()),
        ("process", static () => new ProcessTarget()),
        ("log-files", FilesTarget.OfLog),
        ("redis", static () => new RedisTarget()),
        ("state-files", FilesTarget.OfStates),
        ("history", static () => new HistoryTarget()),
        ("scenario", static () => new ScenarioTarget()),
    ];

    /// <summary>Their names.</summary>
    public static IReadOnlyList<string> Names { get; } = [.. All.Select(target => target.Name)];

    /// <summary>One of them, new.</summary>
    public static FuzzTarget Create(string name) => Array.Find(All, target => target.Name == name).Make();
}
