using System.Globalization;
using System.Text.Json.Nodes;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>The Redis of its own is durable, evicts nothing, has room, and lets in who has a name.</summary>
internal static class RedisRules
{
    private static readonly string[] s_lines =
    [
        "appendonly yes", "appendfsync always", "maxmemory-policy noeviction", "dir /data",
        "aclfile /run/snapper-redis/users.acl",
    ];

    public static IEnumerable<string> Problems(Manifests all) =>
        from pods in all.Pods.Where(pods => pods.Containers.Any(container => (string?)container["name"] == "redis"))
        from problem in Of(all, pods)
        select $"{pods.Where}: {problem}";

    private static IEnumerable<string> Of(Manifests all, Pods pods)
    {
        var volumes = List(pods.Spec["volumes"]).Select(volume => (string?)volume["configMap"]?["name"]);
        var data = volumes.Select(name => all.Find("ConfigMap", name)?["data"])
            .FirstOrDefault(one => one?["redis.conf"] is not null);
        var written = ((string?)data?["redis.conf"] ?? "").Split('\n');
        foreach (var line in s_lines.Except(written)) yield return $"its redis.conf must say '{line}'";
        var isTls = volumes.Contains("snapper-redis-tls");
        if (Said(all, "SNAPPER_REDIS_TLS", "off").Any(said => said == "on" != isTls))
        {
            yield return "it and the workers do not agree on TLS";
        }

        foreach (var problem in Users(all, (string?)data?["users.acl"] ?? "")) yield return problem;
        var container = pods.Containers[0];
        foreach (var problem in Memory(container)) yield return problem;
        if (List(container["env"]).Any(variable => variable["valueFrom"] is not null))
        {
            yield return "redis takes a secret into its environment";
        }

        var lasting = List(pods.Owner["spec"]!["volumeClaimTemplates"]).Select(one => (string?)one["metadata"]!["name"]);
        var mount = List(container["volumeMounts"]).FirstOrDefault(one => (string?)one["mountPath"] == "/data");
        if (mount is null || !lasting.Contains((string?)mount["name"])) yield return "/data must be on a volume that lasts";
    }

    /// <summary>
    /// The access control list: nothing without a name; the workers by the secret's password, with their own keys; the
    /// probes with nothing but an answer.
    /// </summary>
    private static IEnumerable<string> Users(Manifests all, string text)
    {
        var users = text.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(line => line.Split(' ')).ToDictionary(words => words[1], words => words[2..]);
        if (!users.GetValueOrDefault("default", []).SequenceEqual(["reset"]))
        {
            yield return "the default user must be reset, which leaves it off and without rights";
        }

        foreach (var name in Said(all, "SNAPPER_REDIS_USER", "default"))
        {
            if (!users.GetValueOrDefault(name, []).Contains("on")) yield return $"users.acl has no user {name} that is on";
        }

        foreach (var problem in users.SelectMany(user => User(user.Key, user.Value))) yield return problem;
    }

    private static IEnumerable<string> User(string name, string[] rights)
    {
        if (!rights.Any(right => right[0] == '~'))
        {
            var more = rights.Except(["on", "reset", "nopass", "+ping"]);
            if (more.Any()) yield return $"{name} may do more than ask whether it answers: {string.Join(' ', more)}";
            yield break;
        }

        if (!rights.Contains("PASSWORD") || rights.Any(right => right is "nopass" || right[0] is '>' or '#'))
        {
            yield return $"{name} must sign in by the password of the secret";
        }

        if (rights.Any(right => right[0] is '~' or '%' or '&' && right != "~snapper:*"))
        {
            yield return $"{name} may reach other keys than snapper:*";
        }

        var whole = rights.Where(right => right.StartsWith("+@", StringComparison.Ordinal) || right == "allcommands");
        if (whole.Any()) yield return $"{name} may run whole categories: {string.Join(' ', whole)}";
    }

    /// <summary>What a variable of the workers says.</summary>
    private static IEnumerable<string> Said(Manifests all, string variable, string without) =>
        from pods in all.Pods
        from container in pods.Containers.Where(EnvironmentRules.IsWorker)
        select pods.Environment(container, "").GetValueOrDefault(variable, without);

    /// <summary>A rewrite of the append-only file copies what changes meanwhile.</summary>
    private static IEnumerable<string> Memory(JsonObject container)
    {
        string[] command = [.. Texts(container["command"])];
        var at = Array.IndexOf(command, "--maxmemory");
        if (at < 0)
        {
            yield return "its command has no --maxmemory";
            yield break;
        }

        var most = command[at + 1];
        var unit = most[^2..] switch
        {
            "mb" => 1L << 20,
            "gb" => 1L << 30,
            var other => throw new FormatException($"The unit {other} is not known here."),
        };
        var bytes = double.Parse(most[..^2], CultureInfo.InvariantCulture) * unit;
        if (bytes * 2 > SecurityRules.Bytes(container["resources"]!["limits"]!["memory"]!))
        {
            yield return $"maxmemory {most} is more than half of the memory of its pod";
        }
    }
}
