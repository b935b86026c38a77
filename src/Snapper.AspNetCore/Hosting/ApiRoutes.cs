using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Endpoints;
using Snapper.AspNetCore.Api.Events;
using Snapper.Security;

namespace Snapper.AspNetCore.Hosting;

/// <summary>Maps addresses with the right that each needs. All answer failures and wrong methods alike.</summary>
/// <param name="endpoints">Where to.</param>
/// <param name="views">Takes those that streams of events can carry.</param>
/// <param name="log">Of failures.</param>
/// <param name="retryAfter">What <c>Retry-After</c> says when the worker names no time.</param>
/// <param name="isGuest">The application has addresses of its own; see <see cref="WorkerServices.Map"/>.</param>
internal sealed class ApiRoutes(
    IEndpointRouteBuilder endpoints, ViewTable views, ILogger log, TimeSpan retryAfter, bool isGuest = false)
{
    // An endpoint of the application at the same address, of order 0, comes first.
    private const int AfterOthers = 1;

    private readonly Dictionary<string, List<string>> _methods = [];
    private readonly HashSet<string> _open = [];

    /// <summary>An address for GET and HEAD: one handler, whose body the web server leaves out for HEAD.</summary>
    public void Get(string pattern, Right right, Reach reach, RequestDelegate handler) =>
        Add([HttpMethods.Get, HttpMethods.Head], pattern, right, reach, handler);

    /// <summary>As <see cref="Get"/>; streams of events can carry it, too.</summary>
    public void View(string pattern, Right right, Reach reach, RequestDelegate handler)
    {
        Get(pattern, right, reach, handler);
        views.Add(Guarded(handler), new AccessRow(HttpMethods.Get, pattern, right, reach));
    }

    /// <summary>An address for one method.</summary>
    public void Add(
        string method, string pattern, Right right, Reach reach, RequestDelegate handler, string? action = null) =>
        Add([method], pattern, right, reach, handler, action);

    /// <summary>Answers for other methods of the addresses that were added, and for all other addresses.</summary>
    public void Rest()
    {
        // Endpoints that name their method come before those that take any.
        foreach (var (pattern, methods) in _methods)
        {
            var right = _open.Contains(pattern) ? Right.Open : Right.Identified;
            endpoints.Map(pattern, WrongMethod(methods)).WithOrder(OrderOf(pattern)).RequireRight(right, Reach.Common);
        }

        if (isGuest) return;
        endpoints.MapFallback("/{**path}", NotFound).RequireRight(Right.Identified, Reach.Common);
    }

    private void Add(
        string[] methods, string pattern, Right right, Reach reach, RequestDelegate handler, string? action = null)
    {
        endpoints.MapMethods(pattern, methods, Guarded(handler)).WithOrder(OrderOf(pattern))
            .RequireRight(right, reach, action);
        if (!_methods.TryAdd(pattern, [.. methods]))
        {
            _methods[pattern].AddRange(methods);
        }

        if (right == Right.Open)
        {
            _open.Add(pattern);
        }
    }

    private static RequestDelegate WrongMethod(List<string> methods)
    {
        var allowed = string.Join(", ", methods);
        var problem = new Problem(
            StatusCodes.Status405MethodNotAllowed, "urn:snapper:method-not-allowed", "Method not allowed",
            $"This address takes {allowed} only.");
        return context =>
        {
            context.Response.Headers.Allow = allowed;
            return Respond.Send(context, problem);
        };
    }

    private int OrderOf(string pattern) =>
        isGuest && !pattern.StartsWith("/v1/", StringComparison.Ordinal) ? AfterOthers : 0;

    private RequestDelegate Guarded(RequestDelegate handler) => new FailureGuard(handler, log, retryAfter).Run;

    private static Task NotFound(HttpContext context) => Respond.Send(
        context, Problem.NotFound("There is nothing at this address; transactions are sent to /v1/transactions."));
}
