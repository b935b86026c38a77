using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Microsoft.AspNetCore.Http.Features;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>Sends a finished answer in one piece, with its length.</summary>
internal static class Respond
{
    public const string Json = "application/json";
    public const string ProblemJson = "application/problem+json";

    /// <param name="context">The request.</param>
    /// <param name="status">HTTP status.</param>
    /// <param name="contentType">Media type.</param>
    /// <param name="body">Not touched again after the task has ended.</param>
    public static async Task Send(HttpContext context, int status, string contentType, ReadOnlyMemory<byte> body)
    {
        var response = context.Response;
        response.StatusCode = status;
        response.ContentType = contentType;
        response.ContentLength = body.Length;
        await response.BodyWriter.WriteAsync(body);
    }

    /// <summary>Sends a view of this moment: no cache may keep it.</summary>
    public static async Task View<TView>(
        HttpContext context, TView view, JsonTypeInfo<TView> form, int status = StatusCodes.Status200OK)
    {
        using var buffer = JsonBuffer.Rent();
        JsonSerializer.Serialize(buffer.Json, view, form);
        context.Response.Headers.CacheControl = "no-store";
        await Send(context, status, Json, buffer.Written);
    }

    /// <summary>Sends a problem that belongs to no transaction.</summary>
    public static async Task Send(HttpContext context, Problem problem)
    {
        using var buffer = JsonBuffer.Rent();
        buffer.Json.WriteStartObject();
        problem.WriteFields(buffer.Json);
        buffer.Json.WriteEndObject();
        await SendProblem(context, problem, buffer);
    }

    /// <summary>Sends a problem whose object is in the buffer already.</summary>
    public static Task SendProblem(HttpContext context, in Problem problem, JsonBuffer buffer)
    {
        if (problem.RetryAfter is { } after)
        {
            var seconds = Math.Max(1, (long)Math.Ceiling(after.TotalSeconds));
            context.Response.Headers.RetryAfter = seconds.ToString(CultureInfo.InvariantCulture);
        }

        if (problem.Status is StatusCodes.Status413PayloadTooLarge or StatusCodes.Status408RequestTimeout)
        {
            CloseUnread(context);
        }

        return Send(context, problem.Status, ProblemJson, buffer.Written);
    }

    /// <summary>Refuses a request of which the body was not read to its end.</summary>
    public static Task SendUnread(HttpContext context, Rejection refused, TimeSpan retryAfter)
    {
        CloseUnread(context);
        return Send(context, Problem.Of(refused, retryAfter));
    }

    /// <summary>
    /// The rest of the body stays unread: a caller that keeps the connection would have to send all of it first.
    /// </summary>
    public static void CloseUnread(HttpContext context)
    {
        if (context.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: true }
            && HttpProtocol.IsHttp11(context.Request.Protocol))
        {
            context.Response.Headers.Connection = "close";
        }
    }
}
