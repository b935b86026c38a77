namespace Snapper.Storage.Remembering;

/// <summary>
/// The log is not the one that the worker remembers, or ends before what it knows to have been durable: going on would lose
/// acknowledged commits without a word. The message says what was found and what was remembered.
/// </summary>
/// <param name="message">Words for people.</param>
public sealed class LostLogException(string message) : Exception(message);
