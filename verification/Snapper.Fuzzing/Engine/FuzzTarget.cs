namespace Snapper.Fuzzing.Engine;

/// <summary>
/// Something that takes input from outside, with a generator of valid and nearly valid inputs and an oracle. An input is bytes, so that a file can hold
/// it; what it means is the target's business.
/// </summary>
internal abstract class FuzzTarget : IDisposable
{
    /// <summary>What <c>--fuzz</c> calls it; also its folder in the corpus.</summary>
    public abstract string Name { get; }

    /// <summary>What is attacked, in a line.</summary>
    public abstract string Attacks { get; }

    /// <summary>Why it cannot run on this machine; null: it can.</summary>
    public virtual string? Lacks => null;

    /// <summary>An input is lines of text, and shrinks by lines.</summary>
    public virtual bool IsText => false;

    /// <summary>Runs of a minute, roughly: how many inputs a short run should try.</summary>
    public virtual int ShortRun => 2_000;

    /// <summary>So long one input may take by bounds that the target itself has; zero: it has none.</summary>
    public virtual TimeSpan OwnBounds => TimeSpan.Zero;

    /// <summary>A new input; most are valid.</summary>
    public abstract byte[] Generate(Random random);

    /// <summary>An input made of one that is known, and perhaps of pieces of a second one.</summary>
    public abstract byte[] Mutate(byte[] input, byte[] other, Random random);

    /// <summary>Feeds it to the product.</summary>
    /// <returns>What came out, in words: an input whose words (digits aside) are new has reached something new.</returns>
    /// <exception cref="FuzzFailureException">Something came out that must not; so does any other exception.</exception>
    public abstract string Run(byte[] input);

    /// <summary>Lets go of servers, folders and sockets.</summary>
    public virtual void Dispose() => GC.SuppressFinalize(this);
}

/// <summary>The oracle of a target was violated.</summary>
internal sealed class FuzzFailureException(string message) : Exception(message);
