using System.Diagnostics;
using Snapper.Cli.Supervision;
using Snapper.Server.Processes;

namespace Snapper.Cli.Setup;

/// <summary>Where programs come from.</summary>
internal interface IProgramSource
{
    /// <summary>Makes one program as a file in the stage, checked against its published sum.</summary>
    /// <returns>False: the person does not want it.</returns>
    /// <exception cref="SetupException">It cannot be had, or is not what was published.</exception>
    Task<bool> Bring(string program, SetupStage stage, string file, CancellationToken cancellation);
}

/// <summary>Dapr's release page, or a copy of it.</summary>
internal sealed class ReleaseSource(DaprRelease release, Consent consent, MessageWriter messages) : IProgramSource
{
    /// <inheritdoc/>
    public async Task<bool> Bring(string program, SetupStage stage, string file, CancellationToken cancellation)
    {
        if (release.Platform is null) throw new SetupException($"there is no tar.gz of {program} for this system and processor; name your own programs in SNAPPER_DAPRD and SNAPPER_PLACEMENT");
        var address = release.ArchiveAddress(program);
        if (!await consent.Ask($"Dapr: fetch {address}, check it against {program}'s published SHA-256, and install {program} {DaprRelease.Version}?", cancellation)) return false;
        using var files = new ReleaseFiles();
        var published = await files.Checksum(release.ChecksumAddress(program), release.Archive(program), cancellation);
        var archive = stage.File(release.Archive(program));
        var came = await files.Archive(address, archive, cancellation);
        if (came != published) throw new SetupException($"{address} is not what was published: its SHA-256 is {came}, {published} was published");
        messages.Say($"Dapr: {release.Archive(program)} has the published SHA-256 {published}");
        await ProgramArchive.Extract(archive, program, file, cancellation);
        return true;
    }
}

/// <summary>Files of this machine.</summary>
internal static class LocalSource
{
    /// <summary>What a path is: a script to be run, or a folder (or an archive in one).</summary>
    /// <exception cref="SetupException">Nothing that programs can be taken from.</exception>
    public static IProgramSource At(string path, DaprRelease release, Consent consent, MessageWriter messages, StopSignals signals)
    {
        if (Directory.Exists(path)) return new FolderSource(Path.GetFullPath(path), release, messages);
        if (!File.Exists(path)) throw new SetupException($"--from names {path}, which is neither a folder nor a file");
        if (path.EndsWith(".tar.gz", StringComparison.Ordinal)) return new FolderSource(Path.GetDirectoryName(Path.GetFullPath(path))!, release, messages);
        using var file = File.OpenRead(path);
        return file.ReadByte() == '#' && file.ReadByte() == '!'
            ? new ScriptSource(Path.GetFullPath(path), consent, messages, signals)
            : throw new SetupException($"--from names {path}, which is neither a folder, nor a tar.gz, nor a script");
    }
}

/// <summary>A folder with archives and their <c>.sha256</c>, or with programs and <c>SHA256SUMS</c>. Without a sum nothing is taken.</summary>
internal sealed class FolderSource(string folder, DaprRelease release, MessageWriter messages) : IProgramSource
{
    /// <inheritdoc/>
    public async Task<bool> Bring(string program, SetupStage stage, string file, CancellationToken cancellation)
    {
        var archive = Path.Combine(folder, release.Archive(program));
        if (File.Exists(archive))
        {
            await Check(archive, archive + ".sha256", cancellation);
            await ProgramArchive.Extract(archive, program, file, cancellation);
            return true;
        }

        var plain = Path.Combine(folder, program);
        if (!File.Exists(plain)) throw new SetupException($"{folder} holds neither {release.Archive(program)} nor {program}");
        File.Copy(plain, file);
        await Check(file, Path.Combine(folder, "SHA256SUMS"), cancellation);
        ProgramArchive.MakeExecutable(file);
        return true;
    }

    private async Task Check(string file, string sums, CancellationToken cancellation)
    {
        var name = Path.GetFileName(file);
        if (!File.Exists(sums)) throw new SetupException($"there is no {sums}, so {name} cannot be checked");
        var published = Checksums.Of(await File.ReadAllTextAsync(sums, cancellation), name) ?? throw new SetupException($"{sums} holds no SHA-256 of {name}");
        var found = await Checksums.OfFile(file, cancellation);
        if (found != published) throw new SetupException($"{Path.Combine(folder, name)} is not what was published: its SHA-256 is {found}, {sums} says {published}");
        messages.Say($"Dapr: {name} has the SHA-256 {published} of {Path.GetFileName(sums)}");
    }
}

/// <summary>A script that fills <c>$DAPR_RUNTIME_PATH/.dapr/bin</c>, as installers of Dapr do; it checks its own sums. It is given a folder of its own.</summary>
internal sealed class ScriptSource(string script, Consent consent, MessageWriter messages, StopSignals signals) : IProgramSource
{
    private bool _ran;

    /// <inheritdoc/>
    public async Task<bool> Bring(string program, SetupStage stage, string file, CancellationToken cancellation)
    {
        var runtime = stage.File("runtime");
        if (!_ran)
        {
            if (!await consent.Ask($"Dapr: run {script}, with a folder of its own as DAPR_RUNTIME_PATH?", cancellation)) return false;
            var start = new ProcessStartInfo(script);
            start.Environment["DAPR_RUNTIME_PATH"] = runtime;
            int exit;
            try
            {
                exit = await ForwardedProcess.Run(start, signals);
            }
            catch (System.ComponentModel.Win32Exception problem)
            {
                throw new SetupException($"{script} cannot be run: {problem.Message}");
            }

            cancellation.ThrowIfCancellationRequested();
            if (exit != 0) throw new SetupException($"{script} ended with exit code {exit}; what it wrote is above");
            _ran = true;
        }

        var made = Path.Combine(runtime, ".dapr", "bin", program);
        if (!File.Exists(made)) throw new SetupException($"{script} made no .dapr/bin/{program}");
        File.Move(made, file);
        ProgramArchive.MakeExecutable(file);
        messages.Say($"Dapr: {program} is from {script}, which checks its own sums");
        return true;
    }
}
