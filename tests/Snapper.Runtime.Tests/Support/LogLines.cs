using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Snapper.Runtime.Tests.Support;

/// <summary>Keeps the lines that it is told.</summary>
internal sealed class LogLines : ILogger
{
    public ConcurrentQueue<(int Id, LogLevel Level, string Text)> Lines { get; } = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        Lines.Enqueue((eventId.Id, logLevel, formatter(state, exception)));
}
