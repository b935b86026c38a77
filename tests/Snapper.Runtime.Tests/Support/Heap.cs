using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

public sealed record HeapState(int Taken);

public sealed record Letter(string To, int Length);

public interface IHeap : ITransactionalActor
{
    Task<string> Text(int length);

    Task<int> Take(string text);

    Task<int> TextOf(Letter letter);

    Task<int> SendTo(Letter letter);
}

/// <summary>Inputs and results of any length, of its own and of another one's methods.</summary>
[TransactionalActor("Heap")]
public sealed class HeapActor : TransactionalActor<HeapState>, IHeap
{
    protected override HeapState InitialState() => new(0);

    public Task<string> Text(int length) => Task.FromResult(new string('x', length));

    public async Task<int> Take(string text)
    {
        await State.ForUpdate();
        State.Set(new HeapState(text.Length));
        return text.Length;
    }

    public async Task<int> TextOf(Letter letter) => (await Actor<IHeap>(letter.To).Text(letter.Length)).Length;

    public Task<int> SendTo(Letter letter) => Actor<IHeap>(letter.To).Take(new string('x', letter.Length));
}
