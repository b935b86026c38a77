namespace Snapper.Cli.Supervision;

/// <summary>Messages to the person at the terminal, one at a time. Thread-safe.</summary>
internal sealed class MessageWriter(TextWriter writer)
{
    private readonly Lock _lock = new();

    /// <summary>Writes one message, prefixed with the program's name.</summary>
    public void Say(string message)
    {
        lock (_lock)
        {
            writer.WriteLine($"snapper: {message}");
            writer.Flush();
        }
    }
}
