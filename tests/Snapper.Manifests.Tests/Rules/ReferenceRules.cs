using System.Text.Json.Nodes;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>What is named is there, once.</summary>
internal static class ReferenceRules
{
    public static IEnumerable<string> Problems(Manifests all) => [.. Twice(all), .. Namespaces(all), .. all.Pods.SelectMany(pods => Of(all, pods)), .. Scopes(all)];

    private static IEnumerable<string> Twice(Manifests all) =>
        all.Objects.GroupBy(Where).Where(group => group.Count() > 1).Select(group => $"{group.Key} is there twice");

    private static IEnumerable<string> Namespaces(Manifests all)
    {
        var spaces = all.OfKind("Namespace").Select(NameOf).ToArray();
        foreach (var one in all.Objects)
        {
            if ((string?)one["kind"] != "Namespace" && !spaces.Contains((string?)one["metadata"]!["namespace"]))
            {
                yield return $"{Where(one)} is in no namespace that is made here";
            }
        }
    }

    private static IEnumerable<string> Of(Manifests all, Pods pods)
    {
        var spec = pods.Spec;
        if (all.Find("ServiceAccount", (string?)spec["serviceAccountName"]) is null) yield return $"{pods.Where}: there is no service account {spec["serviceAccountName"]}";
        if ((string?)pods.Owner["spec"]!["serviceName"] is { } service && all.Find("Service", service) is null) yield return $"{pods.Where}: there is no service {service}";
        if ((string?)pods.Annotations["dapr.io/config"] is { } config && all.Find("Configuration", config) is null) yield return $"{pods.Where}: there is no Dapr configuration {config}";
        foreach (var annotation in (string[])["dapr.io/app-token-secret", "dapr.io/api-token-secret"])
        {
            if ((string?)pods.Annotations[annotation] is { } secret && all.KeysOf(secret)?.Contains("token") != true) yield return $"{pods.Where}: {annotation} names {secret}, which is no secret with a key token";
        }

        var volumes = List(spec["volumes"]).Select(volume => (string)volume["name"]!)
            .Concat(List(pods.Owner["spec"]!["volumeClaimTemplates"]).Select(claim => (string)claim["metadata"]!["name"]!)).ToArray();
        foreach (var twice in volumes.GroupBy(name => name).Where(group => group.Count() > 1)) yield return $"{pods.Where}: there are two volumes {twice.Key}";
        var mounted = pods.Containers.SelectMany(container => List(container["volumeMounts"])).Select(mount => (string)mount["name"]!).ToArray();
        foreach (var name in mounted.Except(volumes)) yield return $"{pods.Where}: there is no volume {name} to be mounted";
        foreach (var name in volumes.Except(mounted)) yield return $"{pods.Where}: the volume {name} is mounted nowhere";
        foreach (var problem in List(spec["volumes"]).SelectMany(volume => Volume(all, pods, volume))) yield return problem;
        foreach (var problem in pods.Containers.SelectMany(container => List(container["env"])).SelectMany(variable => Variable(all, pods, variable))) yield return problem;
    }

    private static IEnumerable<string> Volume(Manifests all, Pods pods, JsonObject volume)
    {
        if (volume.Count != 2) yield return $"{pods.Where}: the volume {volume["name"]} must be of one kind";
        if (volume["secret"] is JsonObject secret)
        {
            foreach (var problem in Keys(pods, $"secret {secret["secretName"]}", all.KeysOf((string)secret["secretName"]!), secret)) yield return problem;
        }

        if (volume["configMap"] is JsonObject map)
        {
            foreach (var problem in Keys(pods, $"configuration map {map["name"]}", MapKeys(all, (string)map["name"]!), map)) yield return problem;
        }

        if ((string?)volume["persistentVolumeClaim"]?["claimName"] is { } claim && all.Find("PersistentVolumeClaim", claim) is null) yield return $"{pods.Where}: there is no claim {claim}";
    }

    private static IEnumerable<string> Keys(Pods pods, string what, IReadOnlyCollection<string>? keys, JsonObject volume) =>
        keys is null ? [$"{pods.Where}: there is no {what}"]
        : List(volume["items"]).Where(item => !keys.Contains((string)item["key"]!)).Select(item => $"{pods.Where}: the {what} has no key {item["key"]}");

    private static IEnumerable<string> Variable(Manifests all, Pods pods, JsonObject variable)
    {
        var from = variable["valueFrom"];
        if (variable.ContainsKey("value") == from is not null) yield return $"{pods.Where}: {variable["name"]} must have either value or valueFrom";
        if (from?["secretKeyRef"] is JsonObject secret && all.KeysOf((string)secret["name"]!)?.Contains((string)secret["key"]!) != true)
        {
            yield return $"{pods.Where}: {variable["name"]} comes from key {secret["key"]} of secret {secret["name"]}, which is not there";
        }

        if (from?["configMapKeyRef"] is JsonObject map && MapKeys(all, (string)map["name"]!)?.Contains((string)map["key"]!) != true)
        {
            yield return $"{pods.Where}: {variable["name"]} comes from key {map["key"]} of configuration map {map["name"]}, which is not there";
        }
    }

    private static IReadOnlyCollection<string>? MapKeys(Manifests all, string name) => all.Find("ConfigMap", name) is { } map ? [.. Manifests.Keys(map["data"])] : null;

    /// <summary>Dapr's own objects name apps.</summary>
    private static IEnumerable<string> Scopes(Manifests all)
    {
        var apps = all.Pods.Where(pods => pods.HasSidecar).Select(pods => (string?)pods.Annotations["dapr.io/app-id"]).ToArray();
        foreach (var one in all.Objects)
        {
            foreach (var scope in Texts(one["scopes"]).Where(scope => !apps.Contains(scope))) yield return $"{Where(one)}: there is no app {scope}";
        }

        foreach (var one in all.OfKind("Resiliency"))
        {
            foreach (var app in Manifests.Keys(one["spec"]!["targets"]!["apps"]).Where(app => !apps.Contains(app))) yield return $"{Where(one)}: there is no app {app}";
            var retries = Manifests.Keys(one["spec"]!["policies"]!["retries"]).ToArray();
            var targets = (JsonObject)one["spec"]!["targets"]!;
            foreach (var target in ((string[])["apps", "actors"]).SelectMany(group => targets[group] as JsonObject ?? []))
            {
                if ((string?)target.Value!["retry"] is { } retry && !retries.Contains(retry)) yield return $"{Where(one)}: {target.Key} names the policy {retry}, which is not there";
            }
        }
    }
}
