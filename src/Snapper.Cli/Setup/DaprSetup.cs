using Snapper.Cli.Supervision;
using Snapper.Server.Processes;

namespace Snapper.Cli.Setup;

/// <summary>Brings daprd and placement into Dapr's own folder, where <c>up</c> looks for them.</summary>
internal sealed class DaprSetup(SetupMachine machine, DaprRelease release, Consent consent, MessageWriter messages, StopSignals signals)
{
    private string Folder => machine.Finder.DaprFolder ?? throw new SetupException("there is no home folder to put Dapr into: set DAPR_RUNTIME_PATH");

    /// <summary>True when there are both, in a version that 'up' takes, before or now.</summary>
    public async Task<bool> Run(bool offline, string? from)
    {
        try
        {
            var missing = Missing();
            if (missing.Count == 0) return true;
            if (offline)
            {
                Explain(missing);
                return false;
            }

            using (var stage = SetupStage.Open(Folder))
            {
                var source = from is null ? (IProgramSource)new ReleaseSource(release, consent, messages) : LocalSource.At(from, release, consent, messages, signals);
                var brought = new List<string>();
                foreach (var program in missing)
                {
                    var file = stage.File(program);
                    if (!await source.Bring(program, stage, file, signals.Stop))
                    {
                        messages.Say($"Dapr: {program} was not brought, so nothing was put in place");
                        return false;
                    }

                    ServerPrograms.RequireDapr(file, program, exactly: from is null ? DaprRelease.Version : null);
                    brought.Add(program);
                }

                // All or nothing: a daprd beside another version's placement is harder to understand than none.
                foreach (var program in brought) stage.Place(program);
                messages.Say($"Dapr: {string.Join(" and ", brought)} put into {Folder}");
            }

            return Missing().Count == 0;
        }
        catch (Exception problem) when (problem is SetupException or StartupException)
        {
            messages.Say($"Dapr: {problem.Message}. Nothing was put in place.");
            return false;
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            messages.Say($"Dapr: {Folder} cannot be written: {problem.Message}");
            return false;
        }
    }

    /// <summary>Both when daprd is missing or too old: placement does not tell its version, and an old daprd has an old one beside it.</summary>
    private IReadOnlyList<string> Missing()
    {
        var daprd = ServerPrograms.Daprd(machine.Finder);
        var placement = ServerPrograms.Placement(machine.Finder);
        messages.Say($"Dapr: {daprd.Finding}");
        messages.Say($"Dapr: {placement.Finding}");
        return daprd.Path is null ? ["daprd", "placement"] : placement.Path is null ? ["placement"] : [];
    }

    private void Explain(IReadOnlyList<string> missing)
    {
        messages.Say($"Dapr: on a machine that can, fetch for each of {string.Join(" and ", missing)}:");
        foreach (var program in missing)
        {
            messages.Say(release.Platform is null
                ? $"    {program}: there is no tar.gz of Dapr for this system and processor; build it from its sources"
                : $"    {release.ArchiveAddress(program)} and {release.ChecksumAddress(program)}");
        }

        messages.Say($"Dapr: put them into one folder of this machine, then './snapper setup --from FOLDER' checks the sums and puts the programs into {Folder}; "
            + "or put the programs there yourself, or name them in SNAPPER_DAPRD and SNAPPER_PLACEMENT");
    }
}
