using Snapper.Fuzzing.Engine;
using Snapper.Protocol.Identity;
using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;

namespace Snapper.Fuzzing.Storage;

/// <summary>
/// Opening and recovering a log over broken files. An input is a <see cref="Recipe"/>: the sample log is written as a worker would, its files are broken, and the next
/// worker comes.
/// </summary>
/// <remarks>
/// Oracle: it opens with a legal beginning of what was written, or refuses with <see cref="CorruptLogException"/>, again and again, and has then not touched what is
/// damaged. Legal: everything before the first changed byte is there, and nothing that is still whole behind it was left out; states that the log no longer has are never
/// lost. What was changed with its checksums made right again cannot be told from what was written: there, only a clear refusal or a working log is asked for.
/// </remarks>
internal sealed class FilesTarget(string name, string attacks, string[] kinds) : FuzzTarget
{
    private static readonly CancellationToken None = CancellationToken.None;

    public override string Name => name;

    public override string Attacks => attacks;

    public override bool IsText => true;

    public override int ShortRun => 1_500;

    public static FilesTarget OfLog() => new("log-files", "segments and meta.json of the file log", ["log"]);

    public static FilesTarget OfStates() => new("state-files", "checkpoints of the file log: states and outcomes", ["state", "state", "outcomes"]);

    public override byte[] Generate(Random random)
    {
        var text = $"sample {random.Next(1, 10_000)}\n";
        for (var steps = random.Next(1, 4); steps > 0; steps--)
        {
            text += FileBreaker.Step(random, kinds) + "\n";
        }

        return Pieces.Bytes(text);
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random) => Recipe.Mutate(input, other, random, () => FileBreaker.Step(random, kinds));

    public override string Run(byte[] input) => Task.Run(() => Attack(Recipe.Read(input))).GetAwaiter().GetResult();

    private static async Task<string> Attack(Recipe recipe)
    {
        var files = new MemoryFiles();
        var sample = new SampleLog(recipe.Sample);
        await using (var log = Log(files))
        await using (var store = Store(log))
        {
            await sample.Write(log, store);
        }

        var original = files.Snapshot();
        foreach (var step in recipe.Steps)
        {
            FileBreaker.Do(files, step);
        }

        var broken = files.Snapshot();
        var found = new Found();
        try
        {
            await Recover(files, sample, found);
        }
        catch (CorruptLogException damage)
        {
            FileRules.Untouched(broken, files.Snapshot(), found.Opening is not null);
            await RefusesAgain(files, sample, damage);
            FileRules.TornTailOpens(recipe, sample, original, damage);
            return damage.Message.Replace(MemoryFiles.Folder, "", StringComparison.Ordinal);
        }

        if (!recipe.Steps.Any(FileBreaker.IsForgery))
        {
            FileRules.LegalLog(sample, original, broken, found);
            FileRules.LegalStates(sample, original, broken, found);
        }

        return $"recovered, {(found.Opening!.NextSequence == sample.Firsts[^1] ? "all" : "a beginning")}, {(found.StatesBefore.Values.All(state => state is null) ? "no states" : "states")}";
    }

    private static async Task Recover(MemoryFiles files, SampleLog sample, Found found)
    {
        await using var log = Log(files);
        await using var store = Store(log);
        var opening = await log.Open(None);
        found.Opening = opening;
        if (opening.NextSequence < 1 || opening.FirstSequence < 1 || opening.FirstSequence > opening.NextSequence || opening.Epoch < 1 || opening.Watermarks.Transaction < 0 || opening.Watermarks.ActCounter < 0)
        {
            throw new FuzzFailureException($"The log opened as {opening}.");
        }

        foreach (var actor in sample.Actors)
        {
            found.StatesBefore[actor] = await store.Load(actor, None);
        }

        foreach (var (id, _) in sample.Outcomes)
        {
            if (await store.FindOutcome(id, None) is { } outcome && outcome.RequestId != id)
            {
                throw new FuzzFailureException($"Asked for outcome {id}, it gave that of {outcome.RequestId}.");
            }
        }

        await LogRecovery.Run(log, store, opening, new Deaf(), TimeProvider.System, None);
        foreach (var actor in sample.Actors)
        {
            found.StatesAfter[actor] = await store.Load(actor, None);
        }

        // It works: what is written now can be read.
        var buffer = new GroupBuffer();
        RecordEncoder.Encode(new ActCommitted { Transaction = TransactionId.Act(1, 2), Changes = [], Outcome = null }, buffer);
        var appended = await log.Append(opening.Epoch, opening.NextSequence, 1, buffer.Written.ToArray(), None);
        buffer.Release();
        var read = 0;
        await foreach (var group in log.Read(opening.FirstSequence, None))
        {
            read += group.Count;
        }

        if (appended.Status != AppendStatus.Appended || read < 1)
        {
            throw new FuzzFailureException($"The recovered log answers an append with {appended.Status} and gives {read} records.");
        }
    }

    private static async Task RefusesAgain(MemoryFiles files, SampleLog sample, CorruptLogException before)
    {
        try
        {
            await Recover(files, sample, new Found());
        }
        catch (CorruptLogException)
        {
            return;
        }

        throw new FuzzFailureException($"At first it was refused ({before.Message}), the second time it was recovered.");
    }

    private static FileTransactionLog Log(MemoryFiles files) => new(MemoryFiles.Folder, new FileLogOptions { SegmentBytes = 64 * 1024 }, files);

    private static FileStateStore Store(FileTransactionLog log) => new(log, new StandingTime(), new StateStoreOptions());

    /// <summary>What the second worker found.</summary>
    internal sealed class Found
    {
        public LogOpening? Opening { get; set; }

        public Dictionary<ActorKey, StoredState?> StatesBefore { get; } = [];

        public Dictionary<ActorKey, StoredState?> StatesAfter { get; } = [];
    }

    private sealed class Deaf : IRecoverySink
    {
        public void Outcome(OutcomeRecord outcome, long sequence)
        {
        }
    }
}
