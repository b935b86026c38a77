using static Snapper.Manifests.Tests.Rules.Manifests;

namespace Snapper.Manifests.Tests.Rules;

/// <summary>What selects by labels selects something.</summary>
internal static class SelectorRules
{
    /// <summary>Labels of pods that are not made here: callers of transactions.</summary>
    private static readonly string[] s_outside = ["snapper/caller"];

    /// <summary>Namespaces that are not made here.</summary>
    private static readonly string[] s_namespaces = ["kube-system", "dapr-system", "monitoring"];

    public static IEnumerable<string> Problems(Manifests all)
    {
        foreach (var pods in all.Pods)
        {
            if (!Takes(pods.Owner["spec"]!["selector"]!["matchLabels"], pods.Labels)) yield return $"{pods.Where}: its selector does not take its own pods";
            foreach (var spread in List(pods.Spec["topologySpreadConstraints"]))
            {
                if (!Takes(spread["labelSelector"]?["matchLabels"], pods.Labels)) yield return $"{pods.Where}: a spread constraint does not take its own pods";
            }
        }

        foreach (var service in all.OfKind("Service"))
        {
            if (!all.Pods.Any(pods => Takes(service["spec"]!["selector"], pods.Labels))) yield return $"{Where(service)} selects no pods";
        }

        foreach (var set in all.OfKind("StatefulSet"))
        {
            if (all.Find("Service", (string?)set["spec"]!["serviceName"]) is { } governing && !Takes(governing["spec"]!["selector"], new Pods(set).Labels))
            {
                yield return $"{Where(set)}: its service {NameOf(governing)} does not select its pods";
            }
        }

        foreach (var budget in all.OfKind("PodDisruptionBudget"))
        {
            if (!all.Pods.Any(pods => Takes(budget["spec"]!["selector"]!["matchLabels"], pods.Labels))) yield return $"{Where(budget)} selects no pods";
            if (budget["spec"]!["maxUnavailable"] is null == budget["spec"]!["minAvailable"] is null) yield return $"{Where(budget)} must have either maxUnavailable or minAvailable";
        }

        foreach (var monitor in all.OfKind("ServiceMonitor"))
        {
            if (!all.OfKind("Service").Any(service => Takes(monitor["spec"]!["selector"]!["matchLabels"], service["metadata"]!["labels"]?.AsObject()))) yield return $"{Where(monitor)} selects no service";
        }

        foreach (var policy in all.OfKind("NetworkPolicy"))
        {
            if (!all.Pods.Any(pods => Takes(policy["spec"]!["podSelector"]!["matchLabels"], pods.Labels))) yield return $"{Where(policy)} selects no pods";
            foreach (var peer in NetworkRules.Peers(policy))
            {
                if (peer["namespaceSelector"]?["matchLabels"]?["kubernetes.io/metadata.name"] is { } space)
                {
                    if (!s_namespaces.Contains((string?)space)) yield return $"{Where(policy)} names the namespace {space}, which is not known";
                }
                else if (peer["podSelector"]?["matchLabels"]?.AsObject() is { } labels && !labels.Any(pair => s_outside.Contains(pair.Key)) && !all.Pods.Any(pods => Takes(labels, pods.Labels)))
                {
                    yield return $"{Where(policy)} names a peer {labels.ToJsonString()}, which takes no pods";
                }
            }
        }
    }
}
