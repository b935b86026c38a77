using System.Globalization;
using System.Text.Json.Nodes;
using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>Every pod is as small a target as it can be, and says what it needs.</summary>
internal static class SecurityRules
{
    /// <summary>Sidecar annotations that exist, and what is used of them is as it must be.</summary>
    private static readonly string[] s_annotations =
    [
        "enabled", "app-id", "app-port", "app-protocol", "config", "log-as-json", "log-level", "max-body-size", "app-token-secret", "api-token-secret", "block-shutdown-duration",
        "graceful-shutdown-seconds", "enable-app-health-check", "disable-builtin-k8s-secret-store", "sidecar-seccomp-profile-type", "sidecar-cpu-request", "sidecar-cpu-limit",
        "sidecar-memory-request", "sidecar-memory-limit", "enable-metrics", "metrics-port", "enable-api-logging", "sidecar-listen-addresses", "placement-host-address",
    ];

    public static IEnumerable<string> Problems(Manifests all) => all.Pods.SelectMany(pods => (IEnumerable<string>)[.. Pod(pods), .. pods.Containers.SelectMany(container => Container(pods, container)), .. Sidecar(pods)]);

    private static IEnumerable<string> Pod(Pods pods)
    {
        var security = pods.Spec["securityContext"];
        if ((bool?)security?["runAsNonRoot"] != true || (int?)security["runAsUser"] is null or 0) yield return $"{pods.Where} must run as a user that is named by number and is not root";
        if ((string?)security?["seccompProfile"]?["type"] != "RuntimeDefault") yield return $"{pods.Where}: seccompProfile must be RuntimeDefault";
        if ((bool?)pods.Spec["automountServiceAccountToken"] != false) yield return $"{pods.Where} mounts a token of the cluster's API";
        foreach (var field in (string[])["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"])
        {
            if (pods.Spec.ContainsKey(field)) yield return $"{pods.Where}: {field} is not for us";
        }

        var ours = pods.Containers.Any(container => ((string)container["image"]!).Contains("worker", StringComparison.Ordinal) || ((string)container["image"]!).Contains("dashboard", StringComparison.Ordinal));
        if (ours && ((int?)security?["runAsUser"], (int?)security?["runAsGroup"]) != ContainerImage.User) yield return $"{pods.Where}: the images are made for user and group {ContainerImage.User}";
    }

    private static IEnumerable<string> Container(Pods pods, JsonObject container)
    {
        var where = $"{pods.Where} {container["name"]}";
        var image = (string)container["image"]!;
        var tag = image[(image.LastIndexOf('/') + 1)..];
        if (!tag.Contains('@', StringComparison.Ordinal) && (!tag.Contains(':', StringComparison.Ordinal) || tag.EndsWith(":latest", StringComparison.Ordinal))) yield return $"{where}: the image {image} needs a tag or a digest";
        var security = container["securityContext"];
        if ((bool?)security?["allowPrivilegeEscalation"] != false) yield return $"{where} may gain privileges";
        if ((bool?)security?["readOnlyRootFilesystem"] != true) yield return $"{where} may write to its own file system";
        if (!Texts(security?["capabilities"]?["drop"]).SequenceEqual(["ALL"]) || security?["capabilities"]?["add"] is not null) yield return $"{where} must drop all capabilities";
        if ((bool?)security?["privileged"] == true || (int?)security?["runAsUser"] == 0) yield return $"{where} must not be privileged";
        var resources = container["resources"];
        if (resources?["requests"]?["cpu"] is null || resources["requests"]?["memory"] is null || resources["limits"]?["memory"] is null) yield return $"{where} must request cpu and memory, and limit memory";
        else if (Bytes(resources["requests"]!["memory"]!) > Bytes(resources["limits"]!["memory"]!)) yield return $"{where} requests more memory than its limit";
        foreach (var probe in (string[])["readinessProbe", "livenessProbe"])
        {
            if (container[probe] is null) yield return $"{where} has no {probe}";
        }
    }

    private static IEnumerable<string> Sidecar(Pods pods)
    {
        foreach (var name in pods.Annotations.Select(pair => pair.Key).Where(name => name.StartsWith("dapr.io/", StringComparison.Ordinal)))
        {
            if (!s_annotations.Contains(name["dapr.io/".Length..])) yield return $"{pods.Where}: Dapr knows no annotation {name}";
        }

        if (!pods.HasSidecar) yield break;
        if ((string?)pods.Annotations["dapr.io/enable-app-health-check"] == "true") yield return $"{pods.Where}: app health checks take actor types out of placement";
        if ((string?)pods.Annotations["dapr.io/sidecar-seccomp-profile-type"] != "RuntimeDefault") yield return $"{pods.Where}: the sidecar's seccomp profile must be RuntimeDefault";
        if (pods.Annotations["dapr.io/app-token-secret"] is null) yield return $"{pods.Where}: without dapr.io/app-token-secret whoever reaches the port could run every method";
        if (pods.Annotations["dapr.io/sidecar-memory-limit"] is null || pods.Annotations["dapr.io/sidecar-cpu-request"] is null) yield return $"{pods.Where}: the sidecar must say what it needs";
    }

    public static double Bytes(JsonNode quantity)
    {
        var text = quantity.ToString();
        var digits = text.TrimEnd('K', 'M', 'G', 'T', 'i', 'k', 'm');
        var unit = text[digits.Length..] switch { "" => 1, "Ki" => 1L << 10, "Mi" => 1L << 20, "Gi" => 1L << 30, "k" => 1e3, "M" => 1e6, "G" => 1e9, var other => throw new FormatException($"The unit {other} is not known here.") };
        return double.Parse(digits, CultureInfo.InvariantCulture) * unit;
    }
}
