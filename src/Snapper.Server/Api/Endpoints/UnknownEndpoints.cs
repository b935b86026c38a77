using Snapper.Server.Api.Answers;

namespace Snapper.Server.Api.Endpoints;

/// <summary>Answers for addresses and methods that the server does not have; the web server's own have no body.</summary>
internal static class UnknownEndpoints
{
    public static Task NotFound(HttpContext context) => Respond.Send(context, Problem.NotFound("There is nothing at this address; transactions are sent to /v1/transactions."));

    public static RequestDelegate WrongMethod(params string[] methods)
    {
        var allowed = string.Join(", ", methods);
        var problem = new Problem(
            StatusCodes.Status405MethodNotAllowed, "urn:snapper:method-not-allowed", "Method not allowed", $"This address takes {allowed} only.");
        return context =>
        {
            context.Response.Headers.Allow = allowed;
            return Respond.Send(context, problem);
        };
    }
}
