using System.Text;
using Snapper.Runtime.Inspection;
using Snapper.Server.Api.Answers;
using Snapper.Telemetry;

namespace Snapper.Server.Api.Endpoints;

/// <summary>GET /metrics in Prometheus' text exposition format.</summary>
internal sealed class MetricsEndpoint(IWorkerInspection inspection)
{
    public Task Scrape(HttpContext context)
    {
        var text = Encoding.UTF8.GetBytes(PrometheusText.Of(inspection));
        return Respond.Send(context, StatusCodes.Status200OK, PrometheusText.ContentType, text);
    }
}
