using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Answers;

/// <summary>A request that the door could not turn into a transaction; nothing was executed.</summary>
/// <param name="Kind">Decides the HTTP status.</param>
/// <param name="Detail">Names the field and what is wrong with it; echoes at most about 100 characters of the input.</param>
/// <param name="Id">The caller's id where one could be read, else null.</param>
internal sealed record RequestRefusal(RejectionKind Kind, string Detail, string? Id);
