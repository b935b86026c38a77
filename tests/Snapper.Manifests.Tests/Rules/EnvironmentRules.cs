using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Microsoft.Extensions.Configuration;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Security;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Snapper.Tests.Support;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>Programs are told what they read, in words that they understand: the worker's own parser judges the worker's environment.</summary>
internal static partial class EnvironmentRules
{
    private static readonly string[] s_dotnet = ["ASPNETCORE_HTTP_PORTS", "DOTNET_EnableDiagnostics", "DOTNET_gcServer", "DOTNET_GCHeapHardLimitPercent", "TMPDIR"];
    private static readonly string[] s_redis = ["REDISCLI_AUTH"];
    private static readonly Lazy<string> s_server = new(() => Sources("src"));
    private static readonly Lazy<string> s_dashboard = new(() => Sources("dashboard"));

    public static IEnumerable<string> Problems(Manifests all) => all.Pods.SelectMany(pods => pods.Containers.SelectMany(container => Of(pods, container)));

    /// <summary>What the worker makes of its environment.</summary>
    /// <exception cref="UsageException">It refuses it.</exception>
    public static WorkerSettings Settings(IReadOnlyDictionary<string, string> environment)
    {
        var read = new Dictionary<string, string>(environment, StringComparer.Ordinal);
        if (read.Remove(RedisLogin.FileVariable)) read[RedisLogin.PasswordVariable] = "from a file that is not here"; // that it will be there is another rule
        read.Remove(RedisLogin.AuthorityVariable); // so is that of the authority
        return WorkerCommand.Settings([], read.GetValueOrDefault);
    }

    public static bool IsWorker(JsonObject container) => (string?)container["name"] == "worker";

    private static IEnumerable<string> Of(Pods pods, JsonObject container)
    {
        var names = List(container["env"]).Select(variable => (string)variable["name"]!).ToArray();
        foreach (var twice in names.GroupBy(name => name).Where(group => group.Count() > 1)) yield return $"{pods.Where}: the variable {twice.Key} is there twice";
        for (var i = 0; i < names.Length; i++)
        {
            if (!IsRead(container, names[i])) yield return $"{pods.Where}: {container["name"]} does not read the variable {names[i]}";
            foreach (var reference in Reference().Matches((string?)container["env"]![i]!["value"] ?? "").Select(match => match.Groups[1].Value))
            {
                if (!names[..i].Contains(reference)) yield return $"{pods.Where}: {names[i]} uses $({reference}), which is not set before it";
            }
        }

        if (!IsWorker(container)) yield break;
        foreach (var pod in WorkerRules.PodNames(pods.Owner))
        {
            var environment = pods.Environment(container, pod);
            if (Refusal(environment) is { } refusal) yield return $"{pods.Where}: {pod} refuses its environment: {refusal}";
        }
    }

    private static string? Refusal(IReadOnlyDictionary<string, string> environment)
    {
        try
        {
            var settings = Settings(environment);
            var sections = new ConfigurationBuilder().AddInMemoryCollection(environment.Select(pair => new KeyValuePair<string, string?>(pair.Key.Replace("__", ":", StringComparison.Ordinal), pair.Value))).Build();
            sections[SecuritySettings.FileVariable] = null; // that it will be there is another rule
            WorkerConfiguration.Worker(sections, settings);
            WorkerConfiguration.Balancing(sections);
            WorkerConfiguration.Cluster(sections);
            WorkerConfiguration.Log(sections, settings.LogKind);
            Links(sections);
            ServerActors.SmallBank(sections);
            SecuritySettings.Read(sections);
            return null;
        }
        catch (Exception wrong) when (wrong is UsageException or ArgumentException or InvalidOperationException
            or FormatException or InvalidDataException)
        {
            return wrong.Message;
        }
    }

    /// <summary>
    /// Direct links, with files that are here in place of those of the pod, for the name that is told: that those will
    /// be there is another rule, and that they are for that name is the document's.
    /// </summary>
    private static void Links(IConfiguration sections)
    {
        var section = sections.GetSection("Snapper:Cluster");
        var folder = Directory.CreateTempSubdirectory("snapper-links-");
        try
        {
            using var files = new LinkFiles(folder.FullName);
            var host = section["LinkHost"] is { Length: > 0 } told ? told : "none";
            var (certificate, key) = files.Issue("links", host);
            foreach (var (name, file) in (IEnumerable<(string, string)>)
                [("LinkCertificate", certificate), ("LinkKey", key), ("LinkAuthority", files.Authority)])
            {
                section[name] = section[name] is null ? null : file;
            }

            LinkConfiguration.Read(sections, []);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>Read by the commands that are run in a worker's container, and not by the worker.</summary>
    private const string CommandToken = "SNAPPER_TOKEN";

    private static bool IsRead(JsonObject container, string name) => (string?)container["name"] switch
    {
        "worker" => s_dotnet.Contains(name) || IsReadByWorker(name),
        "dashboard" => s_dotnet.Contains(name) || IsReadByDashboard(name),
        "redis" => s_redis.Contains(name),
        _ => false,
    };

    private static bool IsReadByWorker(string name)
    {
        if (name == CommandToken) return true;
        if (name is "APP_API_TOKEN" or "DAPR_API_TOKEN" or RedisLogin.UserVariable or RedisLogin.PasswordVariable or RedisLogin.FileVariable
            or RedisLogin.TlsVariable or RedisLogin.AuthorityVariable or MailboxSeal.Variable or SecuritySettings.FileVariable) return true;
        if (WorkerCommand.Command.Options.Any(option => name == WorkerCommand.Variable(option.Name))) return true;
        return name.Split("__") is ["Snapper", var section, var key]
            && s_server.Value.Contains($"\"Snapper:{section}\"", StringComparison.Ordinal)
            && Regex.IsMatch(s_server.Value, $@"nameof\(\w+\.{Regex.Escape(key)}\)|""{Regex.Escape(key)}""");
    }

    /// <summary>While its sources are not in the tree, by what was agreed on.</summary>
    private static bool IsReadByDashboard(string name) =>
        s_dashboard.Value.Length == 0 ? name is "SNAPPER_DASHBOARD_WORKERS" : name == SecuritySettings.FileVariable ? s_dashboard.Value.Contains("SecuritySettings.Read(", StringComparison.Ordinal)
        : s_dashboard.Value.Contains($"\"{name}\"", StringComparison.Ordinal);

    private static string Sources(string folder) => !Directory.Exists(Tree.Path(folder)) ? "" : string.Concat(
        Directory.EnumerateFiles(Tree.Path(folder), "*.cs", SearchOption.AllDirectories).Where(file => !file.Contains("/obj/", StringComparison.Ordinal)).Select(File.ReadAllText));

    [GeneratedRegex("\\$\\(([A-Za-z_][A-Za-z0-9_]*)\\)")]
    private static partial Regex Reference();
}
