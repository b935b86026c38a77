using System.Buffers;
using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Snapper.Load.Calibration;

/// <summary>
/// Answers transactions at once with "committed", over real HTTP, and knows nothing: what is left of a load test is the load generator itself. It runs in the same process, so that what is
/// measured includes a share of the cores for somebody who answers.
/// </summary>
internal sealed class StubServer : IAsyncDisposable
{
    private const int BodyMax = 16 * 1024 * 1024;

    private readonly WebApplication _app;

    private StubServer(WebApplication app) => _app = app;

    public Uri Address => new(_app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First());

    public static async Task<StubServer> Start()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(static kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MaxRequestBodySize = BodyMax;
            kestrel.Listen(IPAddress.Loopback, 0);
        });
        var app = builder.Build();
        app.Run(Answer);
        await app.StartAsync();
        return new StubServer(app);
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync(new CancellationToken(canceled: true));
        await _app.DisposeAsync();
    }

    private static async Task Answer(HttpContext context)
    {
        if (!HttpMethods.IsPost(context.Request.Method))
        {
            context.Response.StatusCode = StatusCodes.Status404NotFound;

            // As a worker's.
            await context.Response.WriteAsJsonAsync(new { status = 404 }, options: null, "application/problem+json");
            return;
        }

        while (true)
        {
            var read = await context.Request.BodyReader.ReadAsync(context.RequestAborted);
            if (read.IsCompleted)
            {
                context.Response.ContentType = "application/json";
                Write(read.Buffer, context.Response.BodyWriter);
                context.Request.BodyReader.AdvanceTo(read.Buffer.End);
                return;
            }

            context.Request.BodyReader.AdvanceTo(read.Buffer.Start, read.Buffer.End);
        }
    }

    /// <summary>An envelope for each transaction of a batch, in their order.</summary>
    private static void Write(ReadOnlySequence<byte> body, IBufferWriter<byte> answer)
    {
        using var json = new Utf8JsonWriter(answer);
        json.WriteStartObject();
        json.WriteStartArray("results"u8);
        var reader = new Utf8JsonReader(body);
        const int fieldsOfTransaction = 3; // {"transactions":[{ is where its own fields are
        while (reader.Read())
        {
            if (reader.TokenType != JsonTokenType.PropertyName || reader.CurrentDepth != fieldsOfTransaction || !reader.ValueTextEquals("id"u8))
            {
                continue;
            }

            reader.Read();
            json.WriteStartObject();
            json.WriteString("id"u8, reader.GetString());
            json.WriteString("outcome"u8, "committed"u8);
            json.WriteString("mode"u8, "pact"u8);
            json.WriteNumber("transaction"u8, 1);
            json.WriteNumber("batch"u8, 1);
            json.WriteNumber("attempts"u8, 1);
            json.WriteNumber("result"u8, 1);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }
}
