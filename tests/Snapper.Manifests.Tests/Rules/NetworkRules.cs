using System.Text.Json.Nodes;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>Policies name ports that are there, let through what must pass, and nothing passes that no policy names.</summary>
internal static class NetworkRules
{
    /// <summary>Ports of pods in namespaces of others: names; sentry, operator, placement and scheduler of Dapr; none of a Prometheus, which only asks.</summary>
    private static readonly Dictionary<string, int[]> s_elsewhere = new(StringComparer.Ordinal) { ["kube-system"] = [53], ["dapr-system"] = [50001, 6500, 50005, 50006] };

    public static IEnumerable<JsonObject> Peers(JsonObject policy) =>
        List(policy["spec"]!["ingress"]).SelectMany(rule => List(rule["from"])).Concat(List(policy["spec"]!["egress"]).SelectMany(rule => List(rule["to"])));

    public static IEnumerable<string> Problems(Manifests all) =>
    [
        .. all.OfKind("NetworkPolicy").SelectMany(policy => Ports(all, policy)), .. Closed(all), .. Ways(all),
        .. Scraped(all), .. Linked(all),
    ];

    /// <summary>Namespaces of others reach what serves metrics alone.</summary>
    private static IEnumerable<string> Scraped(Manifests all) =>
        from policy in all.OfKind("NetworkPolicy")
        from pods in all.Pods.Where(pods => pods.HasSidecar && Selects(policy, pods))
        from rule in List(policy["spec"]!["ingress"])
        from peer in List(rule["from"])
        let space = (string?)peer["namespaceSelector"]?["matchLabels"]?["kubernetes.io/metadata.name"]
        where space is not null
        from port in List(rule["ports"]).Select(port => port["port"]!)
        where pods.Port(port) != pods.Port("metrics")
        select $"{Where(policy)}: {space} reaches {port} of {pods.Where}";

    /// <summary>Workers alone reach the port of direct links.</summary>
    private static IEnumerable<string> Linked(Manifests all) =>
        from pods in all.Pods
        where pods.Ports.ContainsKey("links")
        from rule in Rules(all, pods, "ingress", pods.Ports["links"])
        from peer in List(rule["from"])
        where peer["namespaceSelector"] is not null || Here(all, peer).Any(other => other != pods)
        select $"{pods.Where}: others than workers reach the port links: {peer.ToJsonString()}";

    private static IEnumerable<string> Ports(Manifests all, JsonObject policy)
    {
        var types = Texts(policy["spec"]!["policyTypes"]).ToArray();
        foreach (var (rules, type) in ((string, string)[])[("ingress", "Ingress"), ("egress", "Egress")])
        {
            if (policy["spec"]![rules] is not null && !types.Contains(type)) yield return $"{Where(policy)} has {rules} rules and is no policy of {type}";
            foreach (var rule in List(policy["spec"]![rules]))
            {
                if (List(rule["ports"]).FirstOrDefault() is null) yield return $"{Where(policy)}: a rule names no ports, which opens all";
                var peers = List(rule[type == "Ingress" ? "from" : "to"]).ToArray();
                if (peers.Length == 0) yield return $"{Where(policy)}: a rule names nobody, which lets everybody";
                foreach (var port in List(rule["ports"]).Select(port => port["port"]!))
                {
                    var targets = type == "Ingress" ? all.Pods.Where(pods => Selects(policy, pods)) : peers.SelectMany(peer => Here(all, peer));
                    foreach (var pods in targets.Where(pods => pods.Port(port) is null)) yield return $"{Where(policy)}: {pods.Where} has no port {port}";
                    if (type == "Ingress") continue;
                    foreach (var space in peers.Select(peer => (string?)peer["namespaceSelector"]?["matchLabels"]?["kubernetes.io/metadata.name"]).OfType<string>())
                    {
                        if (s_elsewhere.TryGetValue(space, out var known) && !known.Contains((int)port)) yield return $"{Where(policy)}: nothing listens in {space} at port {port}";
                    }
                }
            }
        }
    }

    /// <summary>Pods that no policy selects are open to all.</summary>
    private static IEnumerable<string> Closed(Manifests all) =>
        from pods in all.Pods
        from type in (string[])["Ingress", "Egress"]
        where !all.OfKind("NetworkPolicy").Any(policy => Selects(policy, pods) && Texts(policy["spec"]!["policyTypes"]).Contains(type))
        select $"{pods.Where}: no network policy restricts its {type}";

    /// <summary>Connections without which nothing works.</summary>
    private static IEnumerable<string> Ways(Manifests all)
    {
        var worker = all.Pods.FirstOrDefault(pods => pods.HasSidecar);
        var redis = all.Pods.FirstOrDefault(pods => pods.Ports.ContainsKey("6379"));
        var dashboard = all.Pods.FirstOrDefault(pods => pods.Containers.Any(container => List(container["env"]).Any(variable => (string?)variable["name"] == "SNAPPER_DASHBOARD_WORKERS")));
        (Pods? From, Pods? To, int Port)[] ways =
        [
            (worker, redis, 6379), (worker, worker, 50002), (dashboard, worker, 5101),
            .. Links(worker),
        ];
        foreach (var (from, to, port) in ways)
        {
            if (from is null || to is null) continue;
            if (!Lets(all, from, to, "egress", port)) yield return $"{from.Where} may not connect to {to.Where} at {port}: no policy lets it out";
            if (!Lets(all, to, from, "ingress", port)) yield return $"{from.Where} may not connect to {to.Where} at {port}: no policy lets it in";
        }

        if (worker is null) yield break;
        foreach (var port in s_elsewhere["dapr-system"])
        {
            if (!Rules(all, worker, "egress", port).Any(rule => List(rule["to"]).Any(peer => (string?)peer["namespaceSelector"]?["matchLabels"]?["kubernetes.io/metadata.name"] == "dapr-system")))
            {
                yield return $"{worker.Where}: its sidecar may not connect to dapr-system at {port}";
            }
        }

        foreach (var pods in all.Pods.Where(pods => pods.Containers.Any(container => List(container["env"]).Any(variable => ((string?)variable["value"])?.Contains(":5101", StringComparison.Ordinal) == true))))
        {
            if (!Rules(all, pods, "egress", 53).Any()) yield return $"{pods.Where} may not ask for names";
        }
    }

    private static IEnumerable<(Pods?, Pods?, int)> Links(Pods? worker) =>
        worker?.Ports.TryGetValue("links", out var port) == true ? [(worker, worker, port)] : [];

    private static bool Lets(Manifests all, Pods pods, Pods other, string direction, int port) =>
        Rules(all, pods, direction, port).Any(rule => List(rule[direction == "ingress" ? "from" : "to"]).Any(peer => peer["namespaceSelector"] is null && peer["podSelector"] is { } selector && Takes(selector["matchLabels"], other.Labels)));

    private static IEnumerable<JsonObject> Rules(Manifests all, Pods pods, string direction, int port) =>
        all.OfKind("NetworkPolicy").Where(policy => Selects(policy, pods)).SelectMany(policy => List(policy["spec"]![direction])).Where(rule => List(rule["ports"]).Any(one => (int)one["port"]! == port));

    private static bool Selects(JsonObject policy, Pods pods) => Takes(policy["spec"]!["podSelector"]!["matchLabels"], pods.Labels);

    private static IEnumerable<Pods> Here(Manifests all, JsonObject peer) =>
        peer["namespaceSelector"] is not null || peer["podSelector"] is not { } selector ? [] : all.Pods.Where(pods => Takes(selector["matchLabels"], pods.Labels));
}
