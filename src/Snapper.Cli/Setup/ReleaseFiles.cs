using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace Snapper.Cli.Setup;

/// <summary>Fetches files of a release. What is wrong is a <see cref="SetupException"/>. Proxies are taken from the environment, as everywhere in .NET.</summary>
internal sealed class ReleaseFiles : IDisposable
{
    private const int MaxRedirects = 5;
    private const int MaxChecksumBytes = 4096;

    /// <summary>About three times what an archive has.</summary>
    private const long MaxArchiveBytes = 512L << 20;

    private static readonly TimeSpan WithoutAByte = TimeSpan.FromSeconds(60);

    // Followed by hand: each further address must be one that we may take programs from.
    private readonly HttpClient _http = new(new SocketsHttpHandler { AllowAutoRedirect = false, ConnectTimeout = TimeSpan.FromSeconds(15) }) { Timeout = Timeout.InfiniteTimeSpan };

    /// <summary>The checksum that is published beside an archive: 64 hex digits.</summary>
    /// <exception cref="SetupException">It cannot be had, or is none for this archive.</exception>
    public async Task<string> Checksum(Uri address, string archive, CancellationToken cancellation)
    {
        using var into = new MemoryStream();
        await Fetch(address, into, MaxChecksumBytes, cancellation);
        return Checksums.Of(Encoding.UTF8.GetString(into.ToArray()), archive) ?? throw new SetupException($"{address} holds no SHA-256 of {archive}");
    }

    /// <summary>An archive into a file that must not exist.</summary>
    /// <returns>The SHA-256 of what came: 64 hex digits.</returns>
    /// <exception cref="SetupException">It cannot be had whole.</exception>
    public async Task<string> Archive(Uri address, string file, CancellationToken cancellation)
    {
        await using (var into = new FileStream(file, FileMode.CreateNew, FileAccess.Write))
        {
            await Fetch(address, into, MaxArchiveBytes, cancellation);
        }

        return await Checksums.OfFile(file, cancellation);
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private async Task Fetch(Uri address, Stream into, long most, CancellationToken cancellation)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        patience.CancelAfter(WithoutAByte);
        try
        {
            using var answer = await Follow(address, patience.Token);
            if (answer.Content.Headers.ContentLength > most) throw new SetupException($"{address} has {answer.Content.Headers.ContentLength} bytes, more than the {most} that are taken");
            await using var from = await answer.Content.ReadAsStreamAsync(patience.Token);
            var buffer = new byte[1 << 16];
            var total = 0L;
            while (await Read(address, from, buffer, patience.Token) is var read and > 0)
            {
                patience.CancelAfter(WithoutAByte);
                total += read;
                if (total > most) throw new SetupException($"{address} has more than the {most} bytes that are taken");
                await into.WriteAsync(buffer.AsMemory(0, read), patience.Token);
            }
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            throw new SetupException($"{address} could not be fetched: nothing came for {WithoutAByte.TotalSeconds:0} s");
        }
        catch (HttpRequestException problem)
        {
            throw new SetupException($"{address} could not be fetched: {problem.Message}");
        }
    }

    private static async Task<int> Read(Uri address, Stream from, byte[] buffer, CancellationToken cancellation)
    {
        try
        {
            return await from.ReadAsync(buffer, cancellation);
        }
        catch (IOException broken)
        {
            // Told apart from a disk that takes no more.
            throw new SetupException($"{address} could not be fetched whole: {broken.Message}");
        }
    }

    private async Task<HttpResponseMessage> Follow(Uri address, CancellationToken cancellation)
    {
        var at = address;
        for (var hops = 0; hops <= MaxRedirects; hops++)
        {
            var answer = await _http.GetAsync(at, HttpCompletionOption.ResponseHeadersRead, cancellation);
            if (answer.StatusCode == HttpStatusCode.OK) return answer;
            using (answer)
            {
                if ((int)answer.StatusCode is not (301 or 302 or 303 or 307 or 308) || answer.Headers.Location is not { } next)
                {
                    throw new SetupException($"{at} answered {(int)answer.StatusCode}");
                }

                at = new Uri(at, next);
                if (DaprRelease.Refusal(at) is { } why) throw new SetupException($"{address} sends us elsewhere, and that address {why}");
            }
        }

        throw new SetupException($"{address} sends us on and on, more than {MaxRedirects} times");
    }
}

/// <summary>SHA-256 as <c>sha256sum</c> writes it.</summary>
internal static class Checksums
{
    /// <summary>The sum of a file in the text of a list, or the only sum when the text names no file; null: there is none.</summary>
    public static string? Of(string text, string file)
    {
        foreach (var line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            var parts = line.Split(' ', 2, StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
            if (parts[0].Length != 64 || !parts[0].All(char.IsAsciiHexDigit)) continue;
            if (parts.Length == 1 || Path.GetFileName(parts[1].TrimStart('*')) == file) return parts[0].ToLowerInvariant();
        }

        return null;
    }

    /// <summary>The sum of a file's content.</summary>
    public static async Task<string> OfFile(string file, CancellationToken cancellation)
    {
        await using var from = File.OpenRead(file);
        return Convert.ToHexStringLower(await SHA256.HashDataAsync(from, cancellation));
    }
}
