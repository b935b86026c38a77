using System.Globalization;
using System.Text.Json;
using Snapper.Runtime.Inspection;
using Snapper.Server.Api.Access;
using Snapper.Server.Api.Answers;

namespace Snapper.Server.Api.Endpoints;

/// <summary>GET /v1/audit?limit=: the newest admin actions that this worker was asked for, newest first.</summary>
internal sealed class AuditEndpoint(AuditLog audit, IWorkerInspection inspection)
{
    private const int DefaultLimit = 100;

    public Task Read(HttpContext context)
    {
        var text = (string?)context.Request.Query["limit"] ?? DefaultLimit.ToString(CultureInfo.InvariantCulture);
        if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var limit) || limit is < 1 or > AuditLog.KeptMax)
        {
            return Respond.Send(context, new Problem(StatusCodes.Status400BadRequest, "urn:snapper:invalid-request", "Invalid request", "limit must be a whole number, 1 to 1000."));
        }

        context.Response.Headers.CacheControl = "no-store";
        return Respond.Send(
            context, StatusCodes.Status200OK, Respond.Json, JsonSerializer.SerializeToUtf8Bytes(new { worker = inspection.Status().Worker, entries = audit.Newest(limit) }, JsonSerializerOptions.Web));
    }
}
