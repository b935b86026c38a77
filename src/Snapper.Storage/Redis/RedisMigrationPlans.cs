using System.Globalization;
using Snapper.Protocol.Directory;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

internal sealed class RedisMigrationPlans(RedisClusterSession session) : IMigrationPlans
{
    private const int ValuesPerPlan = 12;
    private const int MaxListed = 100_000;

    public async Task<ClusterResult> Create(MigrationPlan plan, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(plan);
        plan.Validate();
        ClusterArguments.Worker(plan.From);
        ClusterArguments.Worker(plan.To);
        var values = DirectoryFields.Arguments(
            plan.Keys, plan.Id, plan.From.Worker, plan.From.Epoch, plan.To.Worker, plan.To.Epoch, plan.Reason, plan.Asked, session.Options.OpenPlans);
        return (await session.Run(ClusterScripts.CreatePlan, values, cancellation).ConfigureAwait(false)).Result;
    }

    public async Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Commit(string id, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        var answer = await session.Run(ClusterScripts.CommitPlan, [id, session.Options.EndedPlans], cancellation).ConfigureAwait(false);
        if (answer.Status == ClusterStatus.AlreadyDone)
        {
            return new(ClusterStatus.AlreadyDone, []);
        }

        return answer.With<IReadOnlyList<DirectoryEntry>>(done =>
        {
            var owner = done.Incarnation(0, Key(id));
            return done.List(2, 2, at => new DirectoryEntry(
                DirectoryFields.Parse(done.Bytes(at)), owner, done.Number(at + 1, Key(id))));
        });
    }

    public async Task<ClusterResult> Cancel(string id, string why, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        MigrationPlan.ValidateText(why);
        return (await session.Run(ClusterScripts.CancelPlan, [id, why, session.Options.EndedPlans], cancellation).ConfigureAwait(false)).Result;
    }

    public async Task<ClusterResult> Note(string id, string note, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        MigrationPlan.ValidateText(note);
        return (await session.Run(ClusterScripts.NotePlan, [id, note], cancellation).ConfigureAwait(false)).Result;
    }

    public async Task<IReadOnlyList<string>> ReadNotes(IReadOnlyList<string> ids, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(ids);
        var values = new RedisValue[ids.Count];
        for (var i = 0; i < values.Length; i++)
        {
            MigrationPlan.ValidateId(ids[i]);
            values[i] = ids[i];
        }

        if (values.Length == 0)
        {
            return [];
        }

        var answer = RedisClusterMembers.Read(await session.Read(ClusterScripts.ReadNotes, values, cancellation).ConfigureAwait(false));
        return answer.List(0, 1, answer.Text);
    }

    public async Task<PlanRecord?> Find(string id, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        var answer = RedisClusterMembers.Read(await session.Read(ClusterScripts.FindPlan, [id], cancellation).ConfigureAwait(false));
        return answer.Count == 0 ? null
            : PlanAt(answer, 0, answer.List(ValuesPerPlan, 1, at => DirectoryFields.Parse(answer.Bytes(at))));
    }

    public Task<IReadOnlyList<PlanRecord>> ReadParts(string migration, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(migration);
        return ReadList(ClusterScripts.ReadParts, [migration], cancellation);
    }

    public Task<IReadOnlyList<PlanRecord>> ReadOpen(CancellationToken cancellation) => ReadList(ClusterScripts.ReadPlans, ["open", MaxListed], cancellation);

    public async Task<IReadOnlyList<string>> ReadDamaged(CancellationToken cancellation)
    {
        var read = session.Read(ClusterScripts.ReadPlans, ["damaged", MaxListed], cancellation);
        var answer = RedisClusterMembers.Read(await read.ConfigureAwait(false));
        return answer.List(0, 1, answer.Text);
    }

    public Task<IReadOnlyList<PlanRecord>> ReadEnded(int most, CancellationToken cancellation)
    {
        ClusterArguments.Page(most, 1000);
        return ReadList(ClusterScripts.ReadPlans, ["ended", most], cancellation);
    }

    private static string Key(string id) => "{cluster}:plan:" + id;

    private static PlanRecord PlanAt(ScriptAnswer answer, int at, IReadOnlyList<DirectoryKey> keys)
    {
        var key = Key(answer.Text(at));
        var ended = answer.Number(at + 8, key);
        return new PlanRecord
        {
            Plan = new MigrationPlan(answer.Text(at), keys, answer.Incarnation(at + 2, key), answer.Incarnation(at + 4, key), answer.Text(at + 6)) { Asked = answer.Text(at + 11) },
            State = answer.Text(at + 1) switch
            {
                "planned" => PlanState.Planned,
                "done" => PlanState.Done,
                "cancelled" => PlanState.Cancelled,
                var other => throw new CorruptLogException(string.Create(CultureInfo.InvariantCulture, $"Redis holds what this program did not write: key {key} has the state '{other}'.")),
            },
            KeyCount = (int)answer.Number(at + 10, key),
            Created = DateTimeOffset.FromUnixTimeMilliseconds(answer.Number(at + 7, key)),
            Ended = ended == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(ended),
            Why = answer.Text(at + 9),
        };
    }

    private async Task<IReadOnlyList<PlanRecord>> ReadList(RedisScript script, RedisValue[] arguments, CancellationToken cancellation)
    {
        var answer = RedisClusterMembers.Read(await session.Read(script, arguments, cancellation).ConfigureAwait(false));
        return answer.List(0, ValuesPerPlan, at => PlanAt(answer, at, []));
    }
}
