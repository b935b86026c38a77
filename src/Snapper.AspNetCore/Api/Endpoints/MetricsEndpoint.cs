using System.Text;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Inspection;
using Snapper.Telemetry;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>GET /metrics in Prometheus' text exposition format.</summary>
internal sealed class MetricsEndpoint(IWorkerInspection inspection)
{
    public Task Scrape(HttpContext context)
    {
        var text = Encoding.UTF8.GetBytes(PrometheusText.Of(inspection));
        return Respond.Send(context, StatusCodes.Status200OK, PrometheusText.ContentType, text);
    }
}
