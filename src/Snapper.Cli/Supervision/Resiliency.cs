using System.Globalization;
using System.Text;
using Snapper.AspNetCore.Hosting;

namespace Snapper.Cli.Supervision;

/// <summary>
/// When the sidecars that <c>up</c> starts may send a call again on their own: never. daprd takes no pattern, so the rule names the app and each actor type.
/// components/resiliency.yaml says why, and is for sidecars that are started without <c>up</c>.
/// </summary>
internal static class Resiliency
{
    /// <summary>The file; daprd reads all files of a folder.</summary>
    public const string FileName = "resiliency.yaml";

    /// <summary>The rule, for workers w1 to w<paramref name="workers"/>.</summary>
    /// <param name="appId">Their Dapr app id.</param>
    /// <param name="workers">How many there may be.</param>
    /// <param name="types">The actor types that they host.</param>
    public static string Yaml(string appId, int workers, IReadOnlyList<string> types)
    {
        var text = new StringBuilder($"""
            apiVersion: dapr.io/v1alpha1
            kind: Resiliency
            metadata:
              name: snapper-generated
            spec:
              policies:
                retries:
                  never:
                    policy: constant
                    duration: 100ms
                    maxRetries: 0
              targets:
                apps:
                  "{appId}":
                    retry: never
                actors:

            """);
        var names = Enumerable.Range(1, workers).SelectMany(i => SidecarActorHost.TypesOf($"w{i}", types));
        foreach (var type in names.Distinct())
        {
            text.Append(CultureInfo.InvariantCulture, $"      \"{type}\":\n        retry: never\n");
        }

        return text.ToString();
    }
}
