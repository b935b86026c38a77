using System.Globalization;
using Snapper.Actors.Generated;
using Snapper.Apps.ListAppend;
using Snapper.Apps.SmallBank;
using Snapper.AspNetCore.Hosting;

namespace Snapper.Server.Hosting;

/// <summary>
/// The actor types that a server process hosts: the server's own, as far as they are wanted, and those of applications.
/// </summary>
internal static class ServerActors
{
    /// <summary>In the place of a list of apps: none of them.</summary>
    public const string None = "none";

    private static readonly (string Name, IReadOnlyList<ActorTypeDescriptor> Types)[] s_apps =
        [("smallbank", SnapperAppsSmallBankActors.All), ("listappend", SnapperAppsListAppendActors.All)];

    /// <summary>The server's own.</summary>
    public static HostedActors Own { get; } = Of(null, null);

    /// <summary>Names of the server's own apps.</summary>
    public static IReadOnlyList<string> Apps { get; } = [.. s_apps.Select(app => app.Name)];

    /// <summary>A list of apps as <c>--apps</c> has it.</summary>
    public static string Text(IReadOnlyList<string> apps) => apps.Count == 0 ? None : string.Join(',', apps);

    /// <summary>Loads what a worker shall host.</summary>
    /// <param name="apps">Which of the server's own apps; null: all.</param>
    /// <param name="assemblies">Files of assemblies with actor types; null: none.</param>
    /// <exception cref="UsageException">
    /// One cannot be loaded, two have a type of one name, or there is none at all.
    /// </exception>
    public static HostedActors Of(IReadOnlyList<string>? apps, IReadOnlyList<string>? assemblies)
    {
        var hosted = new HostedActors(
        [
            .. s_apps.Where(app => apps?.Contains(app.Name) != false).Select(app => ($"the app {app.Name}", app.Types)),
            .. (assemblies ?? []).Select(assembly => (assembly, ActorAssembly.Load(assembly))),
        ], ", or leave the server's own out (--apps)");
        return hosted.Types.Count > 0
            ? hosted
            : throw new UsageException("--apps none needs --actors: a worker without any actor type serves nothing.");
    }

    /// <summary>The section <c>Snapper:SmallBank</c>.</summary>
    /// <exception cref="UsageException">A setting is wrong.</exception>
    public static SmallBankOptions SmallBank(IConfiguration configuration)
    {
        const string name = nameof(SmallBankOptions.InitialBalance);
        const NumberStyles style = NumberStyles.AllowDecimalPoint | NumberStyles.AllowLeadingSign;
        var text = configuration.GetSection(SmallBankOptions.Section)[name];
        if (string.IsNullOrEmpty(text))
        {
            return SmallBankOptions.Default;
        }

        return decimal.TryParse(text, style, CultureInfo.InvariantCulture, out var balance) && balance >= 0
            ? new SmallBankOptions { InitialBalance = balance }
            : throw new UsageException(
                $"A setting of {SmallBankOptions.Section} is wrong: {name} must be a number, 0 or more, not '{text}'.");
    }
}
