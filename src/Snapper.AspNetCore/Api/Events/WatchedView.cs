using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Http.Features;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;

namespace Snapper.AspNetCore.Api.Events;

/// <summary>
/// One view of one stream: made by the handler of its own address, before a request and an answer in memory, and told when its status or bytes are others than those told last.
/// </summary>
internal sealed class WatchedView
{
    /// <summary>A view that is not there after this time is told as unavailable; it is told when it comes.</summary>
    public static readonly TimeSpan AnswerMax = TimeSpan.FromSeconds(5);

    private const int BytesKeptMax = 64 * 1024;

    private static readonly byte[] s_null = "null"u8.ToArray();
    private static readonly byte[] s_end = "}"u8.ToArray();

    private readonly ViewRoute _route;
    private readonly string _view;
    private readonly RequestCaller? _caller;
    private readonly IServiceProvider _services;
    private readonly byte[] _head;
    private readonly byte[] _toldHash = new byte[SHA256.HashSizeInBytes];
    private MemoryStream? _kept;
    private int _toldStatus;
    private Task<Rendered>? _underWay;
    private long _begunAt;

    /// <param name="view">Path and query.</param>
    /// <param name="route">What makes it.</param>
    /// <param name="caller">Who asks; null: nobody is looked at.</param>
    /// <param name="services">Of the request.</param>
    public WatchedView(string view, ViewRoute route, RequestCaller? caller, IServiceProvider services)
    {
        (_view, _route, _caller, _services) = (view, route, caller, services);
        using var buffer = JsonBuffer.Rent();
        buffer.Json.WriteStartObject();
        buffer.Json.WriteString("view"u8, view);
        buffer.Json.WritePropertyName("status"u8);
        _head = buffer.Written.ToArray();
        Refusal = caller is null ? null : AuthorizationMiddleware.ViewProblem(Request(Stream.Null, default), caller, route.Row);
    }

    public ViewRoute Route => _route;

    /// <summary>Why the caller may not see it; null: it may.</summary>
    public Problem? Refusal { get; }

    /// <summary>It is being made; null: it is not.</summary>
    public Task? UnderWay => _underWay;

    /// <summary>Begins to make it anew, when it is not being made. Most are made when this returns.</summary>
    public void Begin(CancellationToken cancellation)
    {
        if (_underWay is not null) return;
        _begunAt = Environment.TickCount64;
        _underWay = Refusal is { } refusal ? Task.FromResult(Fixed(refusal)) : Render(cancellation);
    }

    /// <summary>Tells it, if it is there and something has changed.</summary>
    public async ValueTask Tell(EventWriter writer)
    {
        if (_underWay is null) return;
        if (_underWay.IsCompleted)
        {
            var made = await _underWay;
            _underWay = null;
            await Tell(writer, made);
            if (made.Bytes.Capacity <= BytesKeptMax) _kept = made.Bytes;
        }
        else if (Environment.TickCount64 - _begunAt >= AnswerMax.TotalMilliseconds)
        {
            await Tell(writer, Fixed(new Problem(503, "urn:snapper:unavailable", "Unavailable", $"The worker has not answered this for {AnswerMax.TotalSeconds:0} s.")));
        }
    }

    private static Rendered Fixed(in Problem problem)
    {
        using var buffer = JsonBuffer.Rent();
        buffer.Json.WriteStartObject();
        problem.WriteFields(buffer.Json);
        buffer.Json.WriteEndObject();
        return new Rendered(problem.Status, new MemoryStream(buffer.Written.ToArray(), 0, buffer.Written.Length, writable: false, publiclyVisible: true));
    }

    private async ValueTask Tell(EventWriter writer, Rendered made)
    {
        var bytes = made.Bytes.GetBuffer().AsMemory(0, (int)made.Bytes.Length);
        var hash = SHA256.HashData(bytes.Span);
        if (made.Status == _toldStatus && hash.AsSpan().SequenceEqual(_toldHash)) return;
        hash.CopyTo(_toldHash, 0);
        _toldStatus = made.Status;
        var status = Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{made.Status},\"body\":"));
        await writer.Send("view", isNumbered: true, _head, status, bytes.Length > 0 ? bytes : s_null, s_end);
    }

    private async Task<Rendered> Render(CancellationToken cancellation)
    {
        var bytes = _kept ?? new MemoryStream();
        _kept = null;
        bytes.SetLength(0);
        var context = Request(bytes, cancellation);
        await _route.Handler(context);
        await context.Response.CompleteAsync();
        return new Rendered(context.Response.StatusCode, bytes);
    }

    private DefaultHttpContext Request(Stream answer, CancellationToken cancellation)
    {
        var path = ViewSubscription.PathOf(_view);
        var context = new DefaultHttpContext { RequestServices = _services, RequestAborted = cancellation };
        var request = context.Features.GetRequiredFeature<IHttpRequestFeature>();
        request.Method = HttpMethods.Get;
        request.Protocol = HttpProtocol.Http11;
        request.Path = path;
        request.QueryString = _view[path.Length..];
        request.RawTarget = _view;
        context.Response.Body = answer;
        if (_route.PartName is { } name) context.Request.RouteValues[name] = Uri.UnescapeDataString(path[_route.Row.Prefix.Length..]);
        if (_caller is not null) context.Features.Set(_caller);
        return context;
    }

    private readonly record struct Rendered(int Status, MemoryStream Bytes);
}
