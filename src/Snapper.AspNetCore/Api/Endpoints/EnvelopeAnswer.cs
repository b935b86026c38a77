using Snapper.AspNetCore.Api.Answers;
using Snapper.Cluster.Control;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>What a transaction came to, as the answer of a request that was about it alone.</summary>
internal static class EnvelopeAnswer
{
    private const string WorkerHeader = "Snapper-Worker";

    /// <summary>With the answers' "worker" it tells a client which address to send to.</summary>
    public static void NameWorker(HttpContext context, IClusterControl? cluster)
    {
        if (cluster is not null)
        {
            context.Response.Headers[WorkerHeader] = cluster.Name;
        }
    }

    /// <summary>200 with the envelope, or its problem.</summary>
    public static async Task Send(HttpContext context, TransactionEnvelope envelope, ApiOptions options)
    {
        using var buffer = JsonBuffer.Rent();
        if (Problem.Of(envelope, options.RetryAfter) is { } problem)
        {
            EnvelopeWriter.WriteProblem(buffer.Json, problem, envelope);
            await Respond.SendProblem(context, problem, buffer);
        }
        else
        {
            EnvelopeWriter.Write(buffer.Json, envelope, options.RetryAfter);
            await Respond.Send(context, StatusCodes.Status200OK, Respond.Json, buffer.Written);
        }
    }
}
