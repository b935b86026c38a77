using Snapper.Actors;

namespace Snapper.Testing.Tests;

public interface ISloppy : ITransactionalActor
{
    Task<Guid> OwnId();

    Task<Guid> GivenId();

    Task Counts();

    Task CallsAnother(string id);

    Task CallsOnce();

    Task ReadsOnce();

    Task RefusesOnce();

    Task<int> Clean(int amount);

    Task<int> CleanAbort();

    Task<List<int>> Changes(List<int> input);
}

public sealed class Notes
{
    public List<int> Numbers { get; set; } = [];
}

#pragma warning disable SNAP202, SNAP207 // Its methods do what they must not, to be caught at it.
[TransactionalActor("Sloppy")]
public sealed class Sloppy : TransactionalActor<Notes>, ISloppy
{
    private static int s_runs;

    protected override Notes InitialState() => new();

    public Task<Guid> OwnId() => Task.FromResult(Guid.NewGuid());

    public Task<Guid> GivenId() => Task.FromResult(Context.NewGuid());

    public async Task Counts()
    {
        var mine = await State.ForUpdate();
        mine.Numbers.Add(Interlocked.Increment(ref s_runs));
    }

    public async Task CallsAnother(string id) =>
        await Actor<IWallet>(id + Interlocked.Increment(ref s_runs)).Put(1);

    public async Task CallsOnce()
    {
        if (Interlocked.Increment(ref s_runs) % 2 == 1)
        {
            await Actor<IWallet>("once").Put(1);
        }
    }

    public async Task ReadsOnce()
    {
        if (Interlocked.Increment(ref s_runs) % 2 == 0)
        {
            await State.Get();
        }
    }

    public Task RefusesOnce() => Interlocked.Increment(ref s_runs) % 2 == 0 ? throw Abort("no") : Task.CompletedTask;

    public async Task<int> Clean(int amount)
    {
        var mine = await State.ForUpdate();
        mine.Numbers.Add(amount);
        await Actor<IWallet>("w").Put(amount);
        await Context.Delay(TimeSpan.FromMilliseconds(1));
        (await State.ForUpdate()).Numbers.Add(await Actor<IWallet>("w").Read());
        return (await State.Get()).Numbers.Sum();
    }

    public async Task<int> CleanAbort()
    {
        await State.ForUpdate();
        throw Abort("too_little", new { left = 3 });
    }

    public Task<List<int>> Changes(List<int> input)
    {
        input.Add(input.Count);
        return Task.FromResult(input);
    }

    /// <summary>Before a test that counts.</summary>
    internal static void Reset() => s_runs = 0;
}
