using System.Text.Json.Nodes;
using Snapper.Security;
using Snapper.Server.Tests.Access;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>Other apps may invoke nothing but what is named, and that is what callers of transactions need.</summary>
internal static class AccessListRules
{
    /// <summary>Method and path of all that callers of transactions may ask, as workers serve it.</summary>
    public static IReadOnlyList<(string Verb, string Path)> Needed { get; } =
    [
        .. AccessTable.Rows.Where(row => row.Right is Right.Transact or Right.Ask && row.Method is ("GET" or "POST"))
            .Select(row => (row.Method, row.Pattern)),
    ];

    public static IEnumerable<string> Problems(Manifests all) =>
        from pods in all.Pods.Where(pods => pods.HasSidecar)
        let configuration = all.Find("Configuration", (string?)pods.Annotations["dapr.io/config"])
        where configuration is not null
        from problem in Of(configuration)
        select $"{Where(configuration)}: {problem}";

    private static IEnumerable<string> Of(JsonObject configuration)
    {
        var list = configuration["spec"]!["accessControl"];
        if ((string?)list?["defaultAction"] != "deny")
        {
            yield return "without accessControl that denies all apps may invoke all that workers serve";
            yield break;
        }

        foreach (var policy in List(list["policies"]))
        {
            var app = (string)policy["appId"]!;
            if ((string?)policy["defaultAction"] != "deny") yield return $"{app} may invoke all that is not named";
            if ((string?)policy["namespace"] != (string?)configuration["metadata"]!["namespace"])
            {
                yield return $"{app} is looked for in the namespace {policy["namespace"]}";
            }

            var operations = List(policy["operations"]).Where(one => (string?)one["action"] == "allow").ToArray();
            var allowed = from one in operations
                          from verb in Texts(one["httpVerb"])
                          select (Verb: verb, Path: (string)one["name"]!);
            foreach (var (verb, path) in allowed)
            {
                var served = AccessTable.Rows.Where(row => row.Method == verb && Begins(row.Pattern, path)).ToArray();
                if (served.Length == 0 || served.Any(row => !Needed.Contains((verb, row.Pattern))))
                {
                    yield return $"{app} may {verb} {path}, which callers of transactions do not need";
                }
            }

            foreach (var (verb, path) in Needed)
            {
                if (!operations.Any(one => Texts(one["httpVerb"]).Contains(verb) && Begins(path, (string)one["name"]!)))
                {
                    yield return $"{app} may not {verb} {path}";
                }
            }
        }
    }

    /// <summary>daprd takes an operation for all paths below it, too.</summary>
    private static bool Begins(string path, string operation) =>
        path == operation || path.StartsWith(operation + "/", StringComparison.Ordinal);
}
