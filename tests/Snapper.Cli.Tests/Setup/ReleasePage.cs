using System.Collections.Concurrent;
using System.Formats.Tar;
using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Snapper.AspNetCore.Api;

namespace Snapper.Cli.Tests.Setup;

/// <summary>A local copy of Dapr's release page: real tar.gz files with their sums, and what goes wrong with such pages.</summary>
internal sealed class ReleasePage : IAsyncDisposable
{
    private readonly WebApplication _web;
    private readonly ConcurrentDictionary<string, Func<HttpContext, Task>> _files = new(StringComparer.Ordinal);

    private ReleasePage(WebApplication web) => _web = web;

    public string Url => _web.Urls.Single();

    public ConcurrentQueue<string> Asked { get; } = new();

    public static async Task<ReleasePage> Start()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => ApiListener.Listen(server, System.Net.IPAddress.Loopback, 0));
        var web = builder.Build();
        var page = new ReleasePage(web);
        web.Run(async context =>
        {
            page.Asked.Enqueue(context.Request.Path);
            if (page._files.TryGetValue(context.Request.Path, out var answer)) await answer(context);
            else context.Response.StatusCode = 404;
        });
        await web.StartAsync();
        return page;
    }

    /// <summary>Publishes a program in an archive, as Dapr does, with a readme before it.</summary>
    public ReleasePage Publish(string program, string script, string version = "1.18.1")
    {
        var archive = Archive((program, script));
        Put($"/v{version}/{program}_linux_amd64.tar.gz", archive);
        Put($"/v{version}/{program}_linux_amd64.tar.gz.sha256", Encoding.UTF8.GetBytes($"{Sum(archive)}  {program}_linux_amd64.tar.gz\n"));
        return this;
    }

    public void Put(string path, byte[] content) => Answer(path, context => context.Response.Body.WriteAsync(content).AsTask());

    public void Answer(string path, Func<HttpContext, Task> answer) => _files[path] = answer;

    public static string Sum(byte[] content) => Convert.ToHexStringLower(SHA256.HashData(content));

    public static byte[] Archive(params (string Name, string Script)[] programs)
    {
        using var bytes = new MemoryStream();
        using (var compressed = new GZipStream(bytes, CompressionLevel.Fastest, leaveOpen: true))
        using (var tar = new TarWriter(compressed))
        {
            foreach (var (name, text) in programs.Prepend(("README.md", "what this is")))
            {
                tar.WriteEntry(new PaxTarEntry(TarEntryType.RegularFile, name) { DataStream = new MemoryStream(Encoding.UTF8.GetBytes("#!/bin/sh\n" + text + "\n")) });
            }
        }

        return bytes.ToArray();
    }

    public ValueTask DisposeAsync() => _web.DisposeAsync();
}
