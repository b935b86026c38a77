namespace Snapper.Runtime.Inspection;

/// <summary>Only so many actors can be watched at a time.</summary>
public sealed class TooManyWatchedException(string message) : Exception(message);
