using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>Ports agree: of containers, services, probes, annotations, and of addresses in the environment.</summary>
internal static partial class PortRules
{
    public static IEnumerable<string> Problems(Manifests all) => [.. Services(all), .. Monitors(all), .. all.Pods.SelectMany(Probes), .. all.Pods.SelectMany(pods => Addresses(all, pods))];

    private static IEnumerable<string> Services(Manifests all)
    {
        foreach (var service in all.OfKind("Service"))
        {
            foreach (var port in List(service["spec"]!["ports"]))
            {
                var target = port["targetPort"] ?? port["port"];
                foreach (var pods in all.Pods.Where(pods => Takes(service["spec"]!["selector"], pods.Labels)))
                {
                    if (pods.Port(target) is null) yield return $"{Where(service)}: {pods.Where} has no port {target}";
                    else if ((string?)service["spec"]!["clusterIP"] == "None" && pods.Port(target) != (int)port["port"]!) yield return $"{Where(service)} is headless: its port {port["port"]} must be that of the pods, {pods.Port(target)}";
                }
            }
        }
    }

    private static IEnumerable<string> Monitors(Manifests all) =>
        from monitor in all.OfKind("ServiceMonitor")
        from service in all.OfKind("Service").Where(service => Takes(monitor["spec"]!["selector"]!["matchLabels"], service["metadata"]!["labels"]?.AsObject()))
        from endpoint in List(monitor["spec"]!["endpoints"])
        where !List(service["spec"]!["ports"]).Any(port => (string?)port["name"] == (string?)endpoint["port"])
        select $"{Where(monitor)}: {Where(service)} has no port {endpoint["port"]}";

    private static IEnumerable<string> Probes(Pods pods)
    {
        foreach (var container in pods.Containers)
        {
            foreach (var name in (string[])["startupProbe", "readinessProbe", "livenessProbe"])
            {
                if (container[name] is not JsonObject probe) continue;
                if (((string[])["httpGet", "tcpSocket", "exec"]).Count(probe.ContainsKey) != 1) yield return $"{pods.Where}: {name} must have one way to ask";
                var port = probe["httpGet"]?["port"] ?? probe["tcpSocket"]?["port"];
                if (port is not null && pods.Port(port) is null) yield return $"{pods.Where}: {name} asks at port {port}, which is not there";
            }
        }

        var names = pods.Containers.SelectMany(container => List(container["ports"])).Select(port => (string?)port["name"]).ToArray();
        if (names.Distinct().Count() != names.Length) yield return $"{pods.Where}: a port name is there twice";
        if (pods.HasSidecar && ((string?)pods.Annotations["dapr.io/app-port"] is not { } app || !pods.Ports.ContainsKey(app))) yield return $"{pods.Where}: dapr.io/app-port {pods.Annotations["dapr.io/app-port"]} is no port of its containers";
    }

    /// <summary>Hosts of one word, or with a service behind the first dot, are services and pods here.</summary>
    private static IEnumerable<string> Addresses(Manifests all, Pods pods)
    {
        foreach (var text in pods.Containers.SelectMany(container => pods.Environment(container, NameOf(pods.Owner) + "-1").Values))
        {
            foreach (var match in Address().Matches(text).Cast<Match>())
            {
                var parts = match.Groups["host"].Value.Split('.');
                if (parts.Length > 2 || parts[0] is "127" || int.TryParse(parts[0], out _)) continue;
                if (all.Find("Service", parts[^1]) is not { } service) yield return $"{pods.Where}: '{match.Value}' names the service {parts[^1]}, which is not there";
                else if (!List(service["spec"]!["ports"]).Any(port => port["port"]!.ToString() == match.Groups["port"].Value)) yield return $"{pods.Where}: '{match.Value}': {Where(service)} has no such port";
                else if (parts.Length == 2 && !IsPod(all, service, parts[0])) yield return $"{pods.Where}: '{match.Value}': there is no pod {parts[0]}";
            }
        }
    }

    private static bool IsPod(Manifests all, JsonObject service, string name) => all.OfKind("StatefulSet").Any(set =>
        (string?)set["spec"]!["serviceName"] == NameOf(service) && WorkerRules.PodNames(set).Contains(name));

    [GeneratedRegex("(?<host>[a-z][-a-z0-9]*(\\.[a-z0-9][-a-z0-9]*)*):(?<port>[0-9]+)")]
    private static partial Regex Address();
}
