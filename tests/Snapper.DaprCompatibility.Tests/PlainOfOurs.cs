using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.DaprCompatibility.Tests;

public interface IOurs : ITransactionalActor
{
    Task Do();
}

public sealed record OurState(int Puts);

/// <summary>An actor of our own kind beside the others.</summary>
[TransactionalActor("Ours")]
public sealed class OursActor : TransactionalActor<OurState>, IOurs
{
    protected override OurState InitialState() => new(0);

    public Task Do() => Task.CompletedTask;
}

internal static class PlainOfOurs
{
    public static ActorTypeDescriptor Type => OursActorDescriptor.Instance;
}
