using System.Globalization;

namespace Snapper.Server.Commands;

/// <summary>The worker that a pod of a StatefulSet is: <c>snapper-worker-3</c> is <c>w3</c>.</summary>
/// <remarks>
/// The number is taken as it is and not raised by one, so that who looks at pods and who looks at workers speak of the same one: a StatefulSet therefore begins
/// with 1 (<c>spec.ordinals.start</c>). A cluster that does not know that field makes a pod 0, which is told so instead of taking another worker's name.
/// </remarks>
internal static class PodName
{
    /// <exception cref="UsageException">It is no name of such a pod.</exception>
    public static string WorkerOf(string pod)
    {
        var dash = pod.LastIndexOf('-');
        var ordinal = pod.AsSpan(dash + 1);
        if (dash < 1 || !int.TryParse(ordinal, NumberStyles.None, CultureInfo.InvariantCulture, out var number) || (ordinal.Length > 1 && ordinal[0] == '0'))
        {
            throw new UsageException("must be that of a StatefulSet's pod, PREFIX-NUMBER");
        }

        return number switch
        {
            0 => throw new UsageException(
                "must be counted from 1 (set spec.ordinals.start of the StatefulSet to 1, Kubernetes 1.27 or later)"),
            >= Protocol.Identity.TransactionId.WorkerLimit => throw new UsageException(
                $"must be counted to {Protocol.Identity.TransactionId.WorkerLimit - 1} at most"),
            _ => string.Create(CultureInfo.InvariantCulture, $"w{number}"),
        };
    }
}
