using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>GET /v1/audit?limit=: the newest admin actions that this worker was asked for, newest first.</summary>
internal sealed class AuditEndpoint(AuditLog audit, IWorkerInspection inspection)
{
    private const int UsualLimit = 100;

    public Task Read(HttpContext context)
    {
        if (LimitParameter.Read(context, UsualLimit) is not { } limit)
        {
            return Respond.Send(context, Problem.Invalid(LimitParameter.Rule + "."));
        }

        var view = new AuditView(inspection.Status().Worker) { Entries = audit.Newest(limit) };
        return Respond.View(context, view, ContractJson.Default.AuditView);
    }
}
