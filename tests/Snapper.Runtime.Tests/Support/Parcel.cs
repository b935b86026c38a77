using System.Collections.Immutable;
using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

public sealed record Label(string Name, List<int> Codes);

/// <summary>A state whose parts its methods return and take as they are.</summary>
public sealed class ParcelState
{
    public Label Label { get; set; } = new("b", [1]);

    public int[] Numbers { get; set; } = [1];

    public Dictionary<string, List<int>> Map { get; set; } = new() { ["b"] = [1] };

    public override string ToString() =>
        $"{Label.Name}{string.Join(',', Label.Codes)} {string.Join(',', Numbers)} "
        + string.Join(';', Map.Select(pair => $"{pair.Key}={string.Join(',', pair.Value)}"));
}

public sealed record Seal(string Name, ImmutableList<int> Codes);

/// <summary>A value whose own code throws: 1 and 3 when it is written as JSON, 2 when it is read.</summary>
public sealed class Sour
{
    private int _how;

    public int How
    {
        get => _how switch
        {
            1 => throw new IOException("planned, in a getter"),
            3 => throw new MuteException(),
            _ => _how,
        };
        set => _how = value == 2 ? throw new IOException("planned, in a setter") : value;
    }

    public static Sour Of(int how) => new() { _how = how };
}

public interface IParcel : ITransactionalActor
{
    Task Fill();

    Task<string> Show();

    Task<Label> Label();

    Task<int[]> Numbers();

    Task<Dictionary<string, List<int>>> Map();

    Task<IReadOnlyList<int>> Codes();

    Task<Label?> Missing();

    Task Keep(Label? label);

    Task<string> ChangeResults(string other);

    Task<string> ChangeInputs(string other);

    Task<Seal> SealOf();

    Task<bool> IsSeal(Seal seal);

    Task<bool> Seals(string other);

    Task<Sour> Give(int how);

    Task Take(Sour sour);

    Task<int> TakeFrom(string call);

    Task Fail(Label load);
}

[TransactionalActor("Parcel")]
public sealed class ParcelActor : TransactionalActor<ParcelState>, IParcel
{
    private static readonly Seal s_seal = new("seal", [1]);

    protected override ParcelState InitialState() => new();

    public async Task Fill()
    {
        await State.ForUpdate();
        State.Set(new ParcelState());
    }

    [ReadOnlyMethod]
    public async Task<string> Show() => (await State.Get()).ToString();

    [ReadOnlyMethod]
    public async Task<Label> Label() => (await State.Get()).Label;

    [ReadOnlyMethod]
    public async Task<int[]> Numbers()
    {
        await Task.Yield(); // does not return at once
        return (await State.Get()).Numbers;
    }

    public async Task<Dictionary<string, List<int>>> Map() => (await State.ForUpdate()).Map;

    [ReadOnlyMethod]
    public async Task<IReadOnlyList<int>> Codes() => (await State.Get()).Label.Codes;

    [ReadOnlyMethod]
    public Task<Label?> Missing() => Task.FromResult<Label?>(null);

    public async Task Keep(Label? label)
    {
        if (label is not null)
        {
            (await State.ForUpdate()).Label = label;
            await Task.Yield();
            label.Codes.Add(2);
        }
    }

    public async Task<string> ChangeResults(string other)
    {
        var parcel = Actor<IParcel>(other);
        (await parcel.Label()).Codes.Add(99);
        (await parcel.Numbers())[0] = 99;
        var map = await parcel.Map();
        map["b"].Add(99);
        map["c"] = [99];
        if (await parcel.Codes() is List<int> codes)
        {
            codes.Add(99);
        }

        return await parcel.Missing() is null ? await parcel.Show() : "a result that is null is not null";
    }

    public async Task<string> ChangeInputs(string other)
    {
        var label = new Label("b", [1]);
        var kept = Actor<IParcel>(other).Keep(label);
        label.Codes.Add(99);
        await kept;
        await Actor<IParcel>(other).Keep(null);
        return string.Join(',', label.Codes);
    }

    public Task<Seal> SealOf() => Task.FromResult(s_seal);

    public Task<bool> IsSeal(Seal seal) => Task.FromResult(ReferenceEquals(seal, s_seal));

    public async Task<bool> Seals(string other) =>
        await Actor<IParcel>(other).IsSeal(s_seal) && ReferenceEquals(await Actor<IParcel>(other).SealOf(), s_seal);

    public Task<Sour> Give(int how) => Task.FromResult(Sour.Of(how));

    public Task Take(Sour sour) => Task.CompletedTask;

    /// <summary>Calls <c>b</c>; the call's failure is caught, and the transaction aborts all the same.</summary>
    public async Task<int> TakeFrom(string call)
    {
        var how = call[^1] - '0';
        try
        {
            await (call.StartsWith("Give", StringComparison.Ordinal)
                ? Actor<IParcel>("b").Give(how)
                : Actor<IParcel>("b").Take(Sour.Of(how)));
        }
        catch (TransactionDoomedException)
        {
            return 1;
        }

        return 0;
    }

    public async Task Fail(Label load)
    {
        load.Codes.Add(99);
        await Actor<IParcel>(load.Name).Show();
        throw Abort(string.Join(',', load.Codes));
    }
}
