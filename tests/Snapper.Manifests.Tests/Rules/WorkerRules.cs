using System.Globalization;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Server.Hosting;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>What the workers rely on: their names, their number, their data, the durability of their Redis, and who knows of them.</summary>
internal static class WorkerRules
{
    private const int SidecarPort = 3500;

    /// <summary>Names of the pods of a StatefulSet.</summary>
    public static IReadOnlyList<string> PodNames(JsonObject set)
    {
        var start = (int?)set["spec"]!["ordinals"]?["start"] ?? 0;
        return [.. Enumerable.Range(start, (int?)set["spec"]!["replicas"] ?? 1).Select(i => string.Create(CultureInfo.InvariantCulture, $"{NameOf(set)}-{i}"))];
    }

    public static IEnumerable<string> Problems(Manifests all)
    {
        foreach (var pods in all.Pods)
        {
            foreach (var container in pods.Containers)
            {
                foreach (var problem in Paths(pods, container)) yield return problem;
                if (!EnvironmentRules.IsWorker(container)) continue;
                foreach (var problem in Worker(all, pods, container)) yield return problem;
            }
        }
    }

    private static IEnumerable<string> Worker(Manifests all, Pods pods, JsonObject container)
    {
        var names = PodNames(pods.Owner);
        var settings = new List<WorkerSettings>();
        foreach (var name in names)
        {
            try
            {
                settings.Add(EnvironmentRules.Settings(pods.Environment(container, name)));
            }
            catch (UsageException)
            {
                yield break; // another rule says it
            }
        }

        if (!settings.Select(worker => worker.Name).SequenceEqual(Enumerable.Range(1, names.Count).Select(i => $"w{i}"))) yield return $"{pods.Where}: its pods are {string.Join(", ", settings.Select(worker => worker.Name))}, not w1 to w{names.Count}";
        var first = settings[0];
        if (first.FirstWorkers != names.Count) yield return $"{pods.Where}: SNAPPER_WORKERS is {first.FirstWorkers}, and there are {names.Count} replicas to divide the actors among";
        if (pods.Port("api") != first.ListenPort)
        {
            yield return $"{pods.Where}: the worker listens at {first.ListenPort}, not at the port api";
        }

        var called = first.AppPort > 0 ? first.AppPort : first.ListenPort;
        if ((string?)pods.Annotations["dapr.io/app-port"] != called.ToString(CultureInfo.InvariantCulture))
        {
            var named = pods.Annotations["dapr.io/app-port"];
            yield return $"{pods.Where}: dapr.io/app-port is {named}, and the worker listens at {called}";
        }

        var spoken = first.AppProtocol == HttpProtocols.Http2 ? "h2c" : "http";
        if ((string?)pods.Annotations["dapr.io/app-protocol"] != spoken)
        {
            var named = pods.Annotations["dapr.io/app-protocol"];
            yield return $"{pods.Where}: dapr.io/app-protocol is {named}, and the worker speaks {spoken}";
        }

        if (first.SidecarPort != SidecarPort) yield return $"{pods.Where}: injected sidecars listen at {SidecarPort}, not at {first.SidecarPort}";
        if (first.MetricsPort > 0 && pods.Port("metrics") != first.MetricsPort)
        {
            yield return $"{pods.Where}: the worker serves metrics at {first.MetricsPort}, not at the port metrics";
        }

        foreach (var monitor in all.OfKind("ServiceMonitor"))
        {
            var asked = List(monitor["spec"]!["endpoints"]).Select(endpoint => pods.Port(endpoint["port"]));
            foreach (var port in asked.Where(port => port != first.ListenPort && port != first.MetricsPort))
            {
                yield return $"{Where(monitor)} asks at {port}, where the worker does not listen";
            }
        }

        foreach (var problem in names.SelectMany(name => Links(all, pods, pods.Environment(container, name), name)))
        {
            yield return $"{pods.Where}: {problem}";
        }

        var app = (string?)pods.Annotations["dapr.io/app-id"];
        if (app != first.AppId) yield return $"{pods.Where}: dapr.io/app-id is {app}, and the worker takes it for {first.AppId} (SNAPPER_APP_ID)";
        if (!all.OfKind("Resiliency").SelectMany(one => Manifests.Keys(one["spec"]!["targets"]!["apps"])).Contains(app))
        {
            yield return $"{pods.Where}: calls of the app {app} would be repeated by the sidecar: a Resiliency must name it";
        }

        if ((string?)pods.Owner["spec"]!["podManagementPolicy"] != "Parallel") yield return $"{pods.Where}: podManagementPolicy must be Parallel, since workers that restart together need each other";
        if (!all.OfKind("PodDisruptionBudget").Any(budget => budget["spec"]!["maxUnavailable"]?.ToString() == "1" && Takes(budget["spec"]!["selector"]!["matchLabels"], pods.Labels))) yield return $"{pods.Where}: no PodDisruptionBudget keeps all but one";
        if ((bool?)all.Find("Service", (string?)pods.Owner["spec"]!["serviceName"])?["spec"]!["publishNotReadyAddresses"] != true) yield return $"{pods.Where}: its service must publish workers that are not ready";

        var addresses = settings.Select(worker => worker.Url ?? "").ToArray();
        var hosts = pods.Environment(container, names[0]).GetValueOrDefault("Snapper__Http__AllowedHosts", "").Split(';');
        foreach (var address in addresses)
        {
            if (!Uri.TryCreate(address, UriKind.Absolute, out var url)) yield return $"{pods.Where}: SNAPPER_URL must say where a worker is reached";
            else if (!hosts.Contains(url.Host)) yield return $"{pods.Where}: Snapper__Http__AllowedHosts lacks {url.Host}";
        }

        foreach (var dashboard in all.Pods.SelectMany(other => other.Containers.Select(one => other.Environment(one, ""))).Where(environment => environment.ContainsKey("SNAPPER_DASHBOARD_WORKERS")))
        {
            if (!dashboard["SNAPPER_DASHBOARD_WORKERS"].Split(',').SequenceEqual(addresses)) yield return $"{pods.Where}: the dashboard looks at {dashboard["SNAPPER_DASHBOARD_WORKERS"]}, and the workers are {string.Join(",", addresses)}";
        }

        var retried = all.OfKind("Resiliency").SelectMany(one => Manifests.Keys(one["spec"]!["targets"]!["actors"])).ToHashSet();
        var types = settings.SelectMany(worker => SidecarActorHost.TypesOf(worker.Name, ServerActors.Own.Types));
        if (types.Except(retried).ToArray() is { Length: > 0 } missing) yield return $"{pods.Where}: calls of {string.Join(", ", missing)} would be repeated by the sidecar: a Resiliency must name them";
    }

    /// <summary>
    /// Direct links are taken at the port of that name, under the pod's own name; or not at all, and it says so.
    /// </summary>
    private static IEnumerable<string> Links(
        Manifests all, Pods pods, Dictionary<string, string> environment, string pod)
    {
        var links = environment.GetValueOrDefault("Snapper__Cluster__Links");
        if (links != "direct")
        {
            if (links != "sidecar") yield return "Snapper__Cluster__Links must say whether there are direct links";
            if (pods.Port("links") is { } open)
            {
                yield return $"the port links, {open}, is there, and nothing listens at it";
            }

            yield break;
        }

        var port = environment.GetValueOrDefault("Snapper__Cluster__LinkPort");
        if (pods.Port("links")?.ToString(CultureInfo.InvariantCulture) != port)
        {
            yield return $"direct links are taken at {port}, not at the port links";
        }

        var address = environment.GetValueOrDefault("Snapper__Cluster__LinkAddress");
        if (address != "0.0.0.0") yield return $"direct links of other pods do not reach {address}";
        var host = environment.GetValueOrDefault("Snapper__Cluster__LinkHost");
        var service = (string?)pods.Owner["spec"]!["serviceName"];
        if (host != $"{pod}.{service}" || (string?)all.Find("Service", service)?["spec"]!["clusterIP"] != "None")
        {
            yield return $"{pod} is not reached under {host}";
        }
    }

    /// <summary>What is written or read in files is in volumes.</summary>
    private static IEnumerable<string> Paths(Pods pods, JsonObject container)
    {
        var environment = pods.Environment(container, "pod-1");
        var mounts = List(container["volumeMounts"]).ToArray();
        if (environment.TryGetValue("SNAPPER_DATA", out var data))
        {
            var mount = mounts.FirstOrDefault(one => (string?)one["mountPath"] == data);
            var lasting = List(pods.Owner["spec"]!["volumeClaimTemplates"]).Select(claim => (string?)claim["metadata"]!["name"]);
            if (mount is null || (bool?)mount["readOnly"] == true || !lasting.Contains((string?)mount["name"])) yield return $"{pods.Where}: {data} must be on a volume that lasts: what a worker remembers of its log is there";
        }

        if (environment.TryGetValue("TMPDIR", out var temporary) && !mounts.Any(one => (string?)one["mountPath"] == temporary && (bool?)one["readOnly"] != true)) yield return $"{pods.Where}: nothing can be written in TMPDIR, {temporary}";
        var files = environment.Where(
            pair => pair.Key.EndsWith("_FILE", StringComparison.Ordinal) || pair.Key == RedisLogin.AuthorityVariable
                || pair.Key is "Snapper__Cluster__LinkCertificate" or "Snapper__Cluster__LinkKey"
                    or "Snapper__Cluster__LinkAuthority");
        foreach (var (variable, path) in files)
        {
            var folder = path[..path.LastIndexOf('/')];
            var volume = mounts.FirstOrDefault(one => (string?)one["mountPath"] == folder)?["name"];
            var items = List(pods.Spec["volumes"]).FirstOrDefault(one => (string?)one["name"] == (string?)volume)?["secret"]?["items"];
            if (!List(items).Any(item => (string?)item["path"] == path[(folder.Length + 1)..])) yield return $"{pods.Where}: {variable} names {path}, which no secret brings there";
        }
    }
}
