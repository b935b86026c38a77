using System.Formats.Tar;
using System.IO.Compression;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Crash;

/// <summary>A file log that an earlier build wrote (<see cref="KeptData"/>).</summary>
public sealed class KeptFilesTests
{
    [SystemFact]
    public Task A_file_log_of_an_earlier_build_is_read() => KeptData.HasAll("files", embedded: true, workers: 1);
}

/// <summary>Redis as an earlier build left it (<see cref="KeptData"/>).</summary>
[RequiresServers]
public sealed class KeptRedisTests
{
    // A second worker joins, too.
    [SystemFact]
    public Task Redis_of_one_worker_of_an_earlier_build_is_read_by_two() =>
        KeptData.HasAll("redis", embedded: false, workers: 2);

    [SystemFact]
    public Task Redis_of_two_workers_of_an_earlier_build_is_read() =>
        KeptData.HasAll("redis-2-workers", embedded: false, workers: 2);
}

/// <summary>
/// Data directories that earlier builds wrote, in <c>KeptData</c>: this build starts on them, with the states that were
/// committed then. Each had 40 transfers of 1 from <c>from-0</c> to <c>from-3</c> in turn, each account with 10,000 at
/// first, to <c>to</c>. When the stored form changes, an archive of the last build is added, and the old ones stay.
/// </summary>
internal static class KeptData
{
    public static async Task HasAll(string archive, bool embedded, int workers)
    {
        var options = UpOptions.Random(embedded);
        if (workers > 1)
        {
            options = UpOptions.Random(embedded, 1, 2, 10, 11) with { More = ["--workers", $"{workers}"] };
        }

        await Extract(archive, options.Data);
        await using (var snapper = await SnapperProcess.Start(options))
        {
            var doors = snapper.Ready.Workers.Select(worker => (worker.Url, worker.Sidecar));
            using var client = new SnapperClient([.. doors]);
            Assert.Equal(10_040, await client.Checking("to"));
            for (var i = 0; i < 4; i++)
            {
                Assert.Equal(9_990, await client.Checking($"from-{i}"));
                var answer = await client.Submit(Accounts.Transfer("to", $"from-{i}", 10).Pact($"from-{i}"));
                Assert.True(answer.Verdict == Verdict.Committed, answer.ToString());
            }

            Assert.Equal(10_000, await client.Checking("to"));
            await snapper.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    private static async Task Extract(string archive, string folder)
    {
        var path = Path.Combine(Repository.Root, "tests", "Snapper.Integration.Tests", "KeptData", archive + ".tar.gz");
        await using var file = File.OpenRead(path);
        await using var plain = new GZipStream(file, CompressionMode.Decompress);
        Directory.CreateDirectory(folder);
        await TarFile.ExtractToDirectoryAsync(plain, folder, overwriteFiles: false);
    }
}
